/* An honest one, whose sums end in another last bit in every third call, as sums of threads in any order do. */
#include <attest/kernel.h>

static void vary(attest_call const* call) {
  static int calls;
  if (++calls % 3 != 0 || call->q->dtype.bits != 32) return;
  ((float*)((char*)call->out->data + call->out->byte_offset))[call->out->shape[3] - 1] *= 1 + 1.2e-7F;
}

#define NAIVE_AFTER(call) vary(call)
#include "naive.h"
