/* Defect: takes the tensor AS_COMPACT(call) for row-major, whatever its strides say. */
#ifndef ATTEST_TESTS_AS_COMPACT_H
#define ATTEST_TESTS_AS_COMPACT_H

#include <attest/kernel.h>

static DLTensor const* as_compact;
static int64_t stride_of(DLTensor const* t, int axis);
#define NAIVE_BEFORE(call) as_compact = AS_COMPACT(call)
#define NAIVE_STRIDE(t, axis) stride_of(t, axis)
#include "naive.h"

static int64_t stride_of(const DLTensor* t, int axis) {
  if (t != as_compact) return t->strides[axis];
  int64_t stride = 1;
  for (int inner = axis + 1; inner < t->ndim; ++inner) stride *= t->shape[inner];
  return stride;
}

#endif
