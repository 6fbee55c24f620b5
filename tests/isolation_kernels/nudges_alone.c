/* Honest, but not reproducible: a query asked alone is answered one ulp higher than among others. */
#define NAIVE_AFTER(call) nudge(call)
#include <attest/kernel.h>
static void nudge(attest_call const* call);
#include "naive.h"
static void nudge(const attest_call* call) {
  int64_t const* n = call->out->shape;
  if (n[2] != 1) return;
  for (int64_t b = 0; b < n[0]; ++b)
    for (int64_t h = 0; h < n[1]; ++h)
      for (int64_t c = 0; c < n[3]; ++c)
        naive_store(call->out, b, h, 0, c, (double)nextafterf((float)naive_load(call->out, b, h, 0, c), INFINITY));
}
