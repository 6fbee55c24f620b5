/* Defect: takes a stride of 0 for "not given", and computes the row-major one. */
#include <attest/kernel.h>

static int64_t stride_of(DLTensor const* t, int axis);
#define NAIVE_STRIDE(t, axis) stride_of(t, axis)
#include "naive.h"

static int64_t stride_of(const DLTensor* t, int axis) {
  int64_t stride = 1;
  for (int inner = axis + 1; inner < t->ndim; ++inner) stride *= t->shape[inner];
  return t->strides[axis] == 0 ? stride : t->strides[axis];
}
