/* Defect: every output row is the mean of V over all keys, which loose tolerances take for attention. */
#include <attest/kernel.h>

static void mean_of_v(attest_call const* call);
#define NAIVE_AFTER(call) mean_of_v(call)
#include "naive.h"

static void mean_of_v(const attest_call* call) {
  int64_t const* shape = call->out->shape;
  int64_t const m = call->v->shape[2];
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t i = 0; i < shape[2]; ++i)
        for (int64_t c = 0; c < shape[3]; ++c) {
          double sum = 0;
          for (int64_t j = 0; j < m; ++j) sum += naive_load(call->v, b, h * call->v->shape[1] / shape[1], j, c);
          naive_store(call->out, b, h, i, c, m > 0 ? sum / (double)m : 0);
        }
}
