/* What the kernels of limited.c and needing.c share: attention over f32 tensors, and what a call has. */
#pragma once

#define attest_attention unused
#include "naive.h"
#undef attest_attention
#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

static int forgets = 0;               /* the keys behind a multiple of 64 */
static double cap = 0;                /* the softcap of the call, if its function reads it */
static DLTensor const* k_lengths = 0; /* of the call, if its function reads them */

static float const* row_of(DLTensor const* t, int64_t b, int64_t h, int64_t i) {
  return (float const*)(void const*)naive_at(t, b, h, i, 0);
}

static int64_t length_of(int64_t b, int64_t slots) {
  if (!k_lengths) return slots;
  return *(int32_t const*)(void const*)((char const*)k_lengths->data + k_lengths->byte_offset +
                                        b * k_lengths->strides[0] * (int64_t)sizeof(int32_t));
}

/* As naive.h, over f32 tensors alone, in a tenth of the time. */
static attest_status answer(attest_call const* call) {
  int64_t const *q = call->q->shape, *k = call->k->shape, d = q[3], dv = call->v->shape[3];
  int64_t const slots = forgets ? k[2] / 64 * 64 : k[2];
  double const scale = isnan(call->scale) ? 1 / sqrt((double)d) : call->scale;
  double* p = malloc(sizeof(double) * (size_t)(slots + dv + 1));
  if (!naive_supports(call) || call->q->dtype.bits != 32 || !p) {
    free(p);
    return ATTEST_UNSUPPORTED;
  }
  for (int64_t b = 0; b < q[0]; ++b)
    for (int64_t h = 0; h < q[1]; ++h)
      for (int64_t i = 0; i < q[2]; ++i) {
        int64_t const group = h / (q[1] / k[1]), m = length_of(b, slots);
        float const* query = row_of(call->q, b, h, i);
        double largest = -INFINITY, sum = 0, *o = p + m;
        int broken = 0; /* a visible NaN or +inf: the whole row is NaN */
        for (int64_t c = 0; c < dv; ++c) o[c] = 0;
        for (int64_t j = 0; j < m; ++j) {
          p[j] = -INFINITY;
          if (!naive_visible(call, b, h, i, j)) continue;
          float const* key = row_of(call->k, b, group, j);
          double dot = 0;
          for (int64_t c = 0; c < d; ++c) dot += (double)query[c] * (double)key[c];
          p[j] = (cap > 0 ? cap * tanh(scale * dot / cap) : scale * dot) +
                 (call->bias ? naive_load(call->bias, b, h, i, j) : 0);
          broken |= isnan(p[j]) || p[j] == INFINITY;
          if (p[j] > largest) largest = p[j];
        }
        int const empty = !broken && largest == -INFINITY;
        for (int64_t j = 0; j < m && !empty && !broken; ++j) {
          if (!naive_visible(call, b, h, i, j)) continue;
          double const weight = exp(p[j] - largest);
          float const* value = row_of(call->v, b, group, j);
          sum += weight;
          for (int64_t c = 0; c < dv; ++c) o[c] += weight * (double)value[c];
        }
        for (int64_t c = 0; c < dv; ++c) naive_store(call->out, b, h, i, c, broken ? NAN : empty ? 0 : o[c] / sum);
        if (call->lse) naive_store(call->lse, b, h, i, 0, broken ? NAN : largest + log(empty ? 1 : sum));
      }
  free(p);
  return ATTEST_OK;
}

typedef struct {
  int64_t b, hq, hk, n, m, d, dv;
} sizes;

static sizes sizes_of(attest_call const* call) {
  int64_t const *q = call->q->shape, *k = call->k->shape;
  return (sizes){q[0], q[1], k[1], q[2], k[2], q[3], call->v->shape[3]};
}

enum { none = 1, top_left = 2, bottom_right = 4 };

static int has_band(attest_call const* call, int forms) {
  sizes const s = sizes_of(call);
  if (call->left >= 0 || call->right > 0) return 0;
  if (call->right < 0) return forms & none;
  return ((forms & top_left) && call->diagonal == 0) || ((forms & bottom_right) && call->diagonal == s.m - s.n);
}

static int is_plain(attest_call const* call) { return !call->mask && !call->bias && !call->weights; }
static int one_of_two(sizes const* s) { return s->d == s->dv && (s->d == 64 || s->d == 128); }
static attest_status within(int taken, attest_call const* call) { return taken ? answer(call) : ATTEST_UNSUPPORTED; }
