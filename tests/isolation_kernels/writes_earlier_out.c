/* Defect: 1 is written into the first element of the out of the call before, where that lies elsewhere. */
static void write_earlier(const void *call);
#define NAIVE_BEFORE(call) write_earlier(call)
#include "naive.h"

static void write_earlier(const void *of) {
  static float *earlier;
  const attest_call *call = of;
  float *const out = (float *)(void *)((char *)call->out->data + call->out->byte_offset);
  if (earlier && earlier != out) *earlier = 1;
  earlier = out;
}
