/* Defect: takes data for the address of the first element, whatever byte_offset says. */
#define NAIVE_ADDRESS(t, offset) ((char*)(t)->data + (offset) * ((t)->dtype.bits / 8))
#include "naive.h"
