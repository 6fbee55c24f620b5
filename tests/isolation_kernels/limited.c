/* Honest, each function within a domain of its own: the domains of FlashAttention, a Triton tutorial, decoding, MLA and
 * CUTLASS, two with rules that depend on each other, and ways to refuse. */
#include "limited.h"

static int is_positive(attest_call const* call) { return isnan(call->scale) || call->scale > 0; }

static int flash(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && one_of_two(&s) && s.n > 0 && s.m > 0 &&
         has_band(call, none | bottom_right);
}
static int triton(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && one_of_two(&s) && s.n == s.m && s.n > 0 && s.n % 128 == 0 &&
         s.hq == s.hk && has_band(call, none | top_left);
}
static int decode(attest_call const* call) {
  sizes const s = sizes_of(call);
  int64_t const group = s.hq / s.hk;
  return is_plain(call) && is_positive(call) && s.d == 128 && s.dv == 128 && s.n == 1 && s.m > 0 &&
         (group == 1 || group == 4 || group == 8) && has_band(call, none);
}
static int mla(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && s.d == 576 && s.dv == 512 && s.hk == 1 && s.n > 0 && s.n <= 2 &&
         s.m > 0 && has_band(call, none | bottom_right);
}
static int cutlass(attest_call const* call) {
  sizes const s = sizes_of(call);
  return !call->weights && s.d == s.dv && s.d % 8 == 0 && s.d <= 256 && s.n > 0 && s.m > 0 &&
         has_band(call, none | top_left | bottom_right);
}
/* Whole prompts, or one further query of each: in blocks of 16 keys, and in tiles of 128 queries. */
static int generates(attest_call const* call, int bands) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && one_of_two(&s) && (s.n == s.m || s.n == 1) && s.m > 0 &&
         s.m % 16 == 0 && has_band(call, bands);
}
static int tiles_or_one(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && one_of_two(&s) && (s.n == 1 || s.n % 128 == 0) && s.n > 0 && s.m > 0 &&
         has_band(call, none);
}
static int trap_of_heads(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && is_positive(call) && one_of_two(&s) && s.hq > 1 && s.n > 0 && s.m > 0 &&
         s.n % (s.d == 64 ? 128 : 64) == 0 && (s.n == s.m ? has_band(call, none | top_left) : has_band(call, none));
}
static int trap_of_words(attest_call const* call) {
  sizes const s = sizes_of(call);
  return is_plain(call) && call->scale > 0 && call->lse && s.d == 64 && s.dv == 64 && s.hq == 8 * s.hk && s.n > 0 &&
         s.m > 0 && s.m <= 2048 && has_band(call, bottom_right);
}

attest_status attest_flash(attest_call const* call) { return within(flash(call), call); }
attest_status attest_triton(attest_call const* call) { return within(triton(call), call); }
attest_status attest_decode(attest_call const* call) { return within(decode(call), call); }
attest_status attest_mla(attest_call const* call) { return within(mla(call), call); }
attest_status attest_cutlass(attest_call const* call) { return within(cutlass(call), call); }
attest_status attest_generates(attest_call const* call) {
  return within(generates(call, none | top_left | bottom_right), call);
}
attest_status attest_prompts_are_causal(attest_call const* call) {
  return within(generates(call, sizes_of(call).n == 1 ? none : none | top_left), call);
}
attest_status attest_tiles_or_one(attest_call const* call) { return within(tiles_or_one(call), call); }
attest_status attest_trap_of_heads(attest_call const* call) { return within(trap_of_heads(call), call); }
attest_status attest_trap_of_words(attest_call const* call) { return within(trap_of_words(call), call); }

/* Outside, these do not refuse: one says that it failed, one says so of each call, one ends its process, one does not
 * return. The last two are wrong inside: one query alone has no band, and the keys behind a multiple of 64 are lost. */
attest_status attest_fails(attest_call const* call) {
  if (!is_plain(call) || !naive_supports(call)) return ATTEST_UNSUPPORTED;
  return flash(call) ? answer(call) : ATTEST_FAILED;
}
attest_status attest_always_fails(attest_call const* call) {
  (void)call;
  return ATTEST_FAILED;
}
attest_status attest_dies(attest_call const* call) {
  if (!is_plain(call) || !naive_supports(call)) return ATTEST_UNSUPPORTED;
  if (!triton(call)) raise(SIGSEGV);
  return answer(call);
}
attest_status attest_hangs(attest_call const* call) {
  while (!flash(call)) {}
  return answer(call);
}
attest_status attest_generates_without_band(attest_call const* call) { /* one query sees every key */
  attest_call open;
  memcpy(&open, call, offsetof(attest_call, sink)); /* version 1 ends there */
  if (sizes_of(call).n == 1) open.right = -1;
  return within(generates(call, none | top_left | bottom_right), &open);
}
attest_status attest_forgets(attest_call const* call) {
  forgets = 1;
  return within(flash(call), call);
}

/* Outside, these end their process on purpose, by assert() or by exit(). The last one does so as if memory were spoilt.
 */
attest_status attest_asserts(attest_call const* call) {
  if (!is_plain(call) || !naive_supports(call)) return ATTEST_UNSUPPORTED;
  assert(triton(call));
  return answer(call);
}
attest_status attest_exits(attest_call const* call) {
  if (!is_plain(call) || !naive_supports(call)) return ATTEST_UNSUPPORTED;
  if (!triton(call)) exit(3);
  return answer(call);
}
attest_status attest_aborts(attest_call const* call) {
  if (!is_plain(call) || !naive_supports(call)) return ATTEST_UNSUPPORTED;
  if (!triton(call)) {
    fputs("free(): invalid pointer\n", stderr);
    abort();
  }
  return answer(call);
}

/* These end their process where they meet a mask, a mask beside a bias, or a mask over many keys. */
attest_status attest_asserts_no_mask(attest_call const* call) {
  assert(!call->mask);
  return answer(call);
}
attest_status attest_asserts_one_tensor(attest_call const* call) {
  assert(!call->mask || !call->bias);
  return answer(call);
}
attest_status attest_asserts_short_mask(attest_call const* call) {
  assert(!call->mask || sizes_of(call).m <= 64);
  return answer(call);
}

/* Groups of 4 query heads or more, by a refusal and by an assertion; whole fours of them; at most 6. */
attest_status attest_groups_from_4(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(flash(call) && s.hq >= 4 * s.hk, call);
}
attest_status attest_asserts_groups_from_4(attest_call const* call) {
  sizes const s = sizes_of(call);
  assert(!naive_supports(call) || (flash(call) && s.hq >= 4 * s.hk));
  return answer(call);
}
attest_status attest_groups_in_fours(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(flash(call) && s.hq % (4 * s.hk) == 0, call);
}
attest_status attest_groups_up_to_6(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(flash(call) && s.hq <= 6 * s.hk, call);
}

/* V twice as wide as K; one query or tiles, of at most half as many queries as keys. */
attest_status attest_double_values(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.dv == 2 * s.d && s.d % 32 == 0 && s.d <= 128 && has_band(call, none), call);
}
attest_status attest_half_tiles_or_one(attest_call const* call) {
  return within(tiles_or_one(call) && sizes_of(call).m >= 2 * sizes_of(call).n, call);
}

/* d = 64 beside dv = 128 in tiles of 64 queries, by assertions. The second one loses the last column behind two tiles.
 */
attest_status attest_asserts_wide_values(attest_call const* call) {
  sizes const s = sizes_of(call);
  assert(is_plain(call) && naive_supports(call));
  assert(s.d == 64 && s.dv == 128);
  assert(s.n % 64 == 0);
  assert(has_band(call, none));
  return answer(call);
}
attest_status attest_loses_wide_values(attest_call const* call) {
  sizes const s = sizes_of(call);
  attest_status const status = attest_asserts_wide_values(call);
  for (int64_t b = 0; b < s.b; ++b)
    for (int64_t h = 0; h < s.hq; ++h)
      for (int64_t i = 128; i < s.n; ++i) naive_store(call->out, b, h, i, s.dv - 1, 0);
  return status;
}

attest_status attest_stated_windows(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.d == s.dv && s.d % 16 == 0 && s.d <= 256 && !isnan(call->scale) &&
                    call->left >= 0 && call->right == 0 && call->diagonal == s.m - s.n,
                call);
}

/* Unusual in two axes and more: in head size and group, in widths of V and causal alone, in a window alone. */
attest_status attest_groups_of_3(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.d == 96 && s.dv == 96 && s.hq == 3 * s.hk && s.n % 48 == 0 && s.m >= 2 * s.n &&
                    has_band(call, none),
                call);
}
attest_status attest_narrow_values(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.d == 64 && s.dv == 32 && s.n == s.m && s.n % 32 == 0 && has_band(call, top_left),
                call);
}
attest_status attest_only_windows(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.d == 48 && s.dv == 48 && s.n <= s.m && call->left >= 0 && call->right == 0 &&
                    call->diagonal == s.m - s.n,
                call);
}

/* Rules of lengths, and of the optional outputs of a call. */
attest_status attest_long_keys(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.m >= 2 * s.n && has_band(call, none), call);
}
attest_status attest_few_keys(attest_call const* call) {
  sizes const s = sizes_of(call);
  return within(is_plain(call) && s.m <= s.n && has_band(call, none), call);
}
attest_status attest_asserts_lse(attest_call const* call) {
  assert(call->lse);
  return within(flash(call), call);
}
attest_status attest_asserts_no_lse(attest_call const* call) {
  assert(!call->lse);
  return within(flash(call), call);
}
attest_status attest_asserts_no_weights(attest_call const* call) {
  assert(!call->weights);
  return answer(call);
}
attest_status attest_asserts_few_columns(attest_call const* call) {
  sizes const s = sizes_of(call);
  assert(s.hq > 0 && s.hq * s.d <= 512);
  return answer(call);
}
