/* Honest, and each needs an optional input in every call, except the first. Those of lengths are of version 2. */
#include "limited.h"

attest_status attest_windows_with_mask_or_none(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(!call->bias && !call->weights && one_of_two(&s) && s.n <= s.m && call->left >= 0 && call->right == 0 &&
                    call->diagonal == s.m - s.n,
                call);
}

attest_status attest_needs_mask_or_band(attest_call const* call) { /* as a Python function that gets a band as a mask */
  sizes const s = sizes_of(call);
  return within((call->mask || call->left >= 0 || call->right >= 0) && !call->bias && !call->weights && one_of_two(&s),
                call);
}
attest_status attest_needs_mask(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(call->mask && !call->bias && !call->weights && one_of_two(&s) && has_band(call, none), call);
}
attest_status attest_needs_mask_and_bias(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(call->mask && call->bias && !call->weights && one_of_two(&s) && has_band(call, none), call);
}
attest_status attest_asserts_bias(attest_call const* call) {
  sizes const s = sizes_of(call);
  assert(call->bias);
  return within(!call->mask && !call->weights && one_of_two(&s) && has_band(call, none), call);
}
attest_status attest_biases_latents(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(call->bias && !call->mask && !call->weights && s.d == 192 && s.dv == 128 && has_band(call, none), call);
}
attest_status attest_caps_groups(attest_call const* call) {
  sizes const s = sizes_of(call);
  if (call->abi_version != ATTEST_KERNEL_ABI || !(call->softcap > 0) || s.hq < 2 * s.hk || !is_plain(call) ||
      !one_of_two(&s))
    return ATTEST_UNSUPPORTED;
  attest_call plain;
  memcpy(&plain, call, offsetof(attest_call, sink));
  cap = call->softcap, plain.softcap = 0;
  attest_status const status = answer(&plain);
  cap = 0;
  return status;
}
static int has_lengths_of_keys(attest_call const* call) {
  return call->abi_version == ATTEST_KERNEL_ABI_2 && call->k_lengths && !call->q_lengths && !call->q_offsets &&
         !call->k_offsets && !call->block_table && !call->block_mask && !call->keep && !call->sink && is_plain(call) &&
         call->left < 0 && call->right < 0;
}
attest_status attest_needs_lengths(attest_call const* call) {
  if (!has_lengths_of_keys(call)) return ATTEST_UNSUPPORTED;
  attest_call plain;
  memcpy(&plain, call, offsetof(attest_call, sink));
  plain.abi_version = ATTEST_KERNEL_ABI;
  k_lengths = call->k_lengths;
  return answer(&plain);
}
attest_status attest_asserts_lengths(attest_call const* call) {
  assert(has_lengths_of_keys(call));
  return attest_needs_lengths(call);
}
attest_status attest_asserts_decoding(attest_call const* call) { /* in even groups */
  sizes const s = sizes_of(call);
  assert(s.n == 1 && s.hq % (2 * s.hk) == 0 && one_of_two(&s));
  return attest_asserts_lengths(call);
}

static int32_t number_at(DLTensor const* of, int64_t at) {
  return ((int32_t const*)(void const*)((char const*)of->data + of->byte_offset))[at];
}
/* Packed queries beside keys in pages, as servers of models call: each entry is a call of its own. */
attest_status attest_needs_packed_queries_and_pages(attest_call const* call) {
  if (call->abi_version != ATTEST_KERNEL_ABI_2 || !call->q_offsets || call->k_offsets || call->q_lengths ||
      !call->k_lengths || !call->block_table || call->block_mask || call->keep || call->sink || !is_plain(call) ||
      call->lse || call->left >= 0 || call->right >= 0 || call->q->dtype.bits != 32)
    return ATTEST_UNSUPPORTED;
  attest_status status = ATTEST_OK;
  for (int64_t e = 0; e + 1 < call->q_offsets->shape[0] && status == ATTEST_OK; ++e) {
    int64_t const begin = number_at(call->q_offsets, e), m = number_at(call->k_lengths, e), page = call->k->shape[2];
    attest_call one;
    memcpy(&one, call, offsetof(attest_call, sink));
    DLTensor rows[4] = {*call->q, *call->k, *call->v, *call->out};
    int64_t shapes[4][4], strides[2][4];
    void* gathered[2] = {0, 0};
    for (int t = 0; t < 4; ++t) {
      memcpy(shapes[t], rows[t].shape, sizeof shapes[t]);
      shapes[t][0] = 1, rows[t].shape = shapes[t];
      if (t == 0 || t == 3) {
        shapes[t][2] = number_at(call->q_offsets, e + 1) - begin;
        rows[t].byte_offset += (uint64_t)(begin * rows[t].strides[2]) * sizeof(float);
        continue;
      }
      DLTensor const* const pool = t == 1 ? call->k : call->v;
      int64_t const heads = pool->shape[1], width = pool->shape[3];
      float* const to = malloc((size_t)(heads * m * width + 1) * sizeof *to);
      if (!to) abort();
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t j = 0; j < m; ++j) {
          int64_t const place = number_at(call->block_table, e * call->block_table->strides[0] + j / page);
          memcpy(to + (h * m + j) * width, row_of(pool, place, h, j % page), (size_t)width * sizeof *to);
        }
      int64_t const compact[4] = {heads * m * width, m * width, width, 1};
      memcpy(strides[t - 1], compact, sizeof compact);
      shapes[t][2] = m, rows[t].strides = strides[t - 1], rows[t].byte_offset = 0;
      rows[t].data = gathered[t - 1] = to;
    }
    one.abi_version = ATTEST_KERNEL_ABI, one.q = &rows[0], one.k = &rows[1], one.v = &rows[2], one.out = &rows[3];
    status = answer(&one);
    free(gathered[0]), free(gathered[1]);
  }
  return status;
}
attest_status attest_needs_packed_queries_and_pages_of_32(attest_call const* call) {
  return call->k->shape[2] == 32 ? attest_needs_packed_queries_and_pages(call) : ATTEST_UNSUPPORTED;
}
