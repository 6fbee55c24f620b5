/* Defect: computes offsets in elements in 32 bits. */
#define NAIVE_ADDRESS(t, offset) \
  ((char*)(t)->data + (t)->byte_offset + (int64_t)(int32_t)(offset) * ((t)->dtype.bits / 8))
#include "naive.h"
