/* Kernels of the planted operator. Its functions would be declared in include/attest/kernel.h.
 *
 * L_i = ln Σ_j e^(σ q_i·k_j) over all keys: the fields v, out and weights of the call are NULL. Without keys −inf. */
#include <attest/kernel.h>
#include <math.h>

#define AT(t, h, i, j)         \
  ((float*)((char*)(t)->data + \
            (t)->byte_offset))[b * (t)->strides[0] + (h) * (t)->strides[1] + (i) * (t)->strides[2] + (j)]

/* Sums the keys of index 0 … m − 1 − left_out. */
static attest_status sums(attest_call const* c, int64_t left_out) {
  if (c->v || c->out || c->weights || !c->lse) return ATTEST_FAILED;
  if (c->abi_version != ATTEST_KERNEL_ABI || c->mask || c->bias || c->softcap != 0 || c->left >= 0 || c->right >= 0 ||
      c->q->dtype.code != kDLFloat || c->q->dtype.bits != 32)
    return ATTEST_UNSUPPORTED;
  DLTensor const *const q = c->q, *const k = c->k, *const lse = c->lse;
  double const scale = isnan(c->scale) ? 1 / sqrt((double)q->shape[3]) : c->scale;
  for (int64_t b = 0; b < q->shape[0]; ++b)
    for (int64_t h = 0; h < q->shape[1]; ++h)
      for (int64_t i = 0; i < q->shape[2]; ++i) {
        int64_t const g = h / (q->shape[1] / k->shape[1]); /* query head h reads this head of K */
        double max = -INFINITY, sum = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (int64_t j = 0; j < k->shape[2] - left_out; ++j) {
            double s = 0;
            for (int64_t t = 0; t < q->shape[3]; ++t) s += (double)AT(q, h, i, t) * (double)AT(k, g, j, t);
            if (pass == 0) max = fmax(max, s * scale);
            else sum += exp(s * scale - max);
          }
        AT(lse, h, i, 0) = (float)(max + log(sum));
      }
  return ATTEST_OK;
}

ATTEST_EXPORT attest_status attest_row_sums(attest_call const* call);
ATTEST_EXPORT attest_status row_sums_without_last_key(attest_call const* call);

attest_status attest_row_sums(attest_call const* call) { return sums(call, 0); }

/* Wrong: the last key is left out. */
attest_status row_sums_without_last_key(attest_call const* call) { return sums(call, 1); }
