/* An honest attention kernel in plain C99: two passes over each row, all arithmetic in double. The other kernels of
 * this folder, which test the isolation, include it with one defect each. f32 and f64; softcap and 16-bit types are
 * UNSUPPORTED.
 *
 * Hooks, defined before inclusion:
 *   NAIVE_BEFORE(call), NAIVE_AFTER(call)  statements around the computation
 *   NAIVE_VISIBLE(call, b, h, i, j)        which keys a query sees
 *   NAIVE_EMPTY_ROW                        the value of O where it sees none
 *   NAIVE_LAST_ROWS                        rows of queries left out at the end
 *   NAIVE_FLOAT(value)                     the float that a double is stored as
 *   NAIVE_STRIDE(t, axis)                  the stride of a tensor's axis, in elements
 *   NAIVE_ADDRESS(t, offset)               the address of the element with this offset
 *   NAIVE_TAKE(bytes), NAIVE_GIVE(memory)  the memory in which a call keeps the weights of a row */
#ifndef ATTEST_TESTS_NAIVE_H
#define ATTEST_TESTS_NAIVE_H

#include <attest/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef NAIVE_BEFORE
#define NAIVE_BEFORE(call) (void)(call)
#endif
#ifndef NAIVE_AFTER
#define NAIVE_AFTER(call) (void)(call)
#endif
#ifndef NAIVE_VISIBLE
#define NAIVE_VISIBLE naive_visible
#endif
#ifndef NAIVE_EMPTY_ROW
#define NAIVE_EMPTY_ROW 0.0
#endif
#ifndef NAIVE_LAST_ROWS
#define NAIVE_LAST_ROWS 0
#endif
#ifndef NAIVE_FLOAT
#define NAIVE_FLOAT(value) (float)(value)
#endif
#ifndef NAIVE_STRIDE
#define NAIVE_STRIDE(t, axis) (t)->strides[axis]
#endif
#ifndef NAIVE_ADDRESS
#define NAIVE_ADDRESS(t, offset) ((char*)(t)->data + (t)->byte_offset + (offset) * ((t)->dtype.bits / 8))
#endif
#ifndef NAIVE_TAKE
#define NAIVE_TAKE malloc
#define NAIVE_GIVE free
#endif

static inline int64_t naive_step(DLTensor const* t, int axis, int64_t at) {
  return axis < t->ndim && t->shape[axis] != 1 ? at * NAIVE_STRIDE(t, axis) : 0;
}

/* The address of element [b, h, i, j]; a tensor of fewer axes has the first of these; axes of size 1 broadcast. */
static inline char* naive_at(DLTensor const* t, int64_t b, int64_t h, int64_t i, int64_t j) {
  int64_t const offset = naive_step(t, 0, b) + naive_step(t, 1, h) + naive_step(t, 2, i) + naive_step(t, 3, j);
  return NAIVE_ADDRESS(t, offset);
}

static inline double naive_load(DLTensor const* t, int64_t b, int64_t h, int64_t i, int64_t j) {
  char const* from = naive_at(t, b, h, i, j);
  if (t->dtype.bits == 32) {
    float value;
    memcpy(&value, from, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline void naive_store(DLTensor const* t, int64_t b, int64_t h, int64_t i, int64_t j, double value) {
  char* to = naive_at(t, b, h, i, j);
  if (t->dtype.bits == 32) {
    float const narrow = NAIVE_FLOAT(value);
    memcpy(to, &narrow, sizeof narrow);
  } else {
    memcpy(to, &value, sizeof value);
  }
}

static inline int64_t naive_saturated_sum(int64_t a, int64_t b) {
  if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
  if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
  return a + b;
}

/* -left <= j - (i + diagonal) <= right, without overflow: j and i are sizes, left and right not below -1. */
static inline int naive_in_band(attest_call const* call, int64_t i, int64_t j) {
  int64_t const middle = naive_saturated_sum(i, call->diagonal);
  if (call->left >= 0 && naive_saturated_sum(j, call->left) < middle) return 0;
  return call->right < 0 || j <= naive_saturated_sum(middle, call->right);
}

static inline int naive_visible(attest_call const* call, int64_t b, int64_t h, int64_t i, int64_t j) {
  return naive_in_band(call, i, j) && (!call->mask || *naive_at(call->mask, b, h, i, j) != 0);
}

static inline double naive_score(attest_call const* call, int64_t b, int64_t h, int64_t group, int64_t i, int64_t j) {
  int64_t const d = call->q->shape[3];
  double dot = 0;
  for (int64_t c = 0; c < d; ++c) dot += naive_load(call->q, b, h, i, c) * naive_load(call->k, b, h / group, j, c);
  double const score = isnan(call->scale) ? dot / sqrt((double)d) : dot * call->scale;
  return call->bias ? score + naive_load(call->bias, b, h, i, j) : score;
}

/* One row: weights into `p`, then O, LSE and weights out. */
static inline void naive_row(attest_call const* call, int64_t b, int64_t h, int64_t group, int64_t i, double* p,
                             char* visible) {
  int64_t const m = call->k->shape[2], dv = call->v->shape[3];
  double largest = -INFINITY, sum = 0;
  int broken = 0; /* a visible NaN or +inf: the whole row is NaN */
  for (int64_t j = 0; j < m; ++j) {
    visible[j] = (char)NAIVE_VISIBLE(call, b, h, i, j);
    if (!visible[j]) continue;
    p[j] = naive_score(call, b, h, group, i, j);
    broken |= isnan(p[j]) || p[j] == INFINITY;
    if (p[j] > largest) largest = p[j];
  }
  int const empty = !broken && largest == -INFINITY;
  for (int64_t j = 0; j < m; ++j) {
    if (visible[j] && !empty) sum += p[j] = broken ? NAN : exp(p[j] - largest);
    else p[j] = 0;
  }
  for (int64_t c = 0; c < dv; ++c) {
    double value = 0;
    for (int64_t j = 0; j < m; ++j)
      if (visible[j] && !empty) value += p[j] * naive_load(call->v, b, h / group, j, c);
    naive_store(call->out, b, h, i, c, empty ? NAIVE_EMPTY_ROW : broken ? NAN : value / sum);
  }
  if (call->lse) naive_store(call->lse, b, h, i, 0, broken ? NAN : empty ? -INFINITY : largest + log(sum));
  if (call->weights)
    for (int64_t j = 0; j < m; ++j) naive_store(call->weights, b, h, i, j, visible[j] && !empty ? p[j] / sum : 0.0);
}

static inline int naive_supports(attest_call const* call) {
  DLDataType const type = call->q->dtype;
  return call->abi_version == ATTEST_KERNEL_ABI && type.code == kDLFloat && (type.bits == 32 || type.bits == 64) &&
         call->softcap == 0 && (!call->bias || (call->bias->dtype.code == kDLFloat && call->bias->dtype.bits >= 32));
}

attest_status attest_attention(attest_call const* call) {
  if (!naive_supports(call)) return ATTEST_UNSUPPORTED;
  int64_t const* shape = call->q->shape;
  int64_t const m = call->k->shape[2], heads = call->k->shape[1];
  double* p = NAIVE_TAKE(sizeof(double) * (size_t)(m + 1));
  char* visible = malloc((size_t)(m + 1));
  if (!p || !visible) {
    NAIVE_GIVE(p);
    free(visible);
    return ATTEST_FAILED;
  }
  NAIVE_BEFORE(call);
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t i = 0; i < shape[2] - NAIVE_LAST_ROWS; ++i) naive_row(call, b, h, shape[1] / heads, i, p, visible);
  NAIVE_AFTER(call);
  NAIVE_GIVE(p);
  free(visible);
  return ATTEST_OK;
}

#endif
