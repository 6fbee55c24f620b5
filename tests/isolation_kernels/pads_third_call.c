/* Defect: the third call writes rows of O behind the queries of an entry. O is 0, which is right where V is. */
#include <attest/kernel.h>
#include <string.h>

static char* row_of(DLTensor const* t, int64_t b, int64_t h, int64_t i) {
  int64_t const offset = b * t->strides[0] + h * t->strides[1] + i * t->strides[2];
  return (char*)t->data + t->byte_offset + offset * (int64_t)sizeof(float);
}

attest_status attest_attention(attest_call const* call) {
  static int calls;
  DLTensor const *o = call->out, *lengths = call->abi_version == ATTEST_KERNEL_ABI_2 ? call->q_lengths : NULL;
  if (call->lse || call->weights || o->dtype.bits != 32) return ATTEST_UNSUPPORTED;
  ++calls;
  for (int64_t b = 0; b < o->shape[0]; ++b) {
    int32_t used = (int32_t)o->shape[2];
    if (lengths)
      memcpy(&used, (char const*)lengths->data + lengths->byte_offset + b * (int64_t)sizeof used, sizeof used);
    for (int64_t h = 0; h < o->shape[1]; ++h)
      for (int64_t i = 0; i < (calls == 3 ? o->shape[2] : used); ++i)
        memset(row_of(o, b, h, i), 0, (size_t)o->shape[3] * sizeof(float));
  }
  return ATTEST_OK;
}
