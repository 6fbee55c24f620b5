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
