/* Defect: scales an element of q in place. */
#include <attest/kernel.h>

static void scale_q(attest_call const* call);
#define NAIVE_BEFORE(call) scale_q(call)
#include "naive.h"

static void scale_q(const attest_call* call) {
  naive_store(call->q, 0, 0, 0, 0, 0.5 * naive_load(call->q, 0, 0, 0, 0));
}
