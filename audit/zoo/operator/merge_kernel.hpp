// A plain attest_merge whose steps specimens replace: M, then weights, then sums, one row at a time. Its steps are
// static functions of a policy P; honest_merge has the right ones. Its attention is right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "audit/zoo/define.hpp"
#include "audit/zoo/honest.hpp"

namespace attest::zoo {

enum class merge_form { sums, pairs, undivided, sigmoid, two_sigmoids };

template <class F>
struct honest_merge {
  static constexpr F infinity = std::numeric_limits<F>::infinity();

  static std::int64_t parts(std::int64_t given) { return given; }
  static std::int64_t strides_of(std::int64_t s) { return s; }  ///< the part whose strides part s is read with
  static bool reads(F lse) { return lse != -infinity; }         ///< whether the O of a part is read
  static F shift(F M) { return M; }                             ///< subtracted from each LSE
  static F exp(F x) { return static_cast<F>(std::exp(static_cast<double>(x))); }
  static F log_sum(F M, F l) { return M + static_cast<F>(std::log(static_cast<double>(l))); }
  static F sigmoid(F x) { return 1 / (1 + exp(-x)); }
  static F log_sigmoid(F x) {
    return std::min(F(0), x) - static_cast<F>(std::log1p(std::exp(-std::abs(static_cast<double>(x)))));
  }
  static F empty_output() { return 0; }
  static F pair_reference(F a, F b) { return std::max(a, b); }      ///< subtracted from the LSE of a pair
  static F weight_reference(F, F lse) { return lse; }               ///< of max LSE_s and LSE, without a division
  static F ahead(F a, F b) { return b - a; }                        ///< argument of the sigmoid: the weight of b
  static F merged_lse(F a, F b) { return a - log_sigmoid(a - b); }  ///< of two parts whose weights are sigmoids
  static constexpr bool writes_lse = true, falling = false, weights_first = false;
  static constexpr merge_form form = merge_form::sums;
};

/// The merge of one row.
template <class F, class P>
class merge_kernel {
 public:
  explicit merge_kernel(attest_merge_call const& call) : call_(call) {}

  void run(std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const count = P::parts(call_.parts), dv = call_.out->shape[3];
    F M = -P::infinity, l = 0;
    bool nan = false;
    for (std::int64_t s = 0; s < count; ++s) {
      F const x = lse(s, b, h, i);
      nan = nan || std::isnan(x) || x == P::infinity;
      if (x > M) M = x;
    }
    F* const out = static_cast<F*>(at(*call_.out, *call_.out, b, h, i));
    F answer = M;
    bool const none = M == -P::infinity;
    for (std::int64_t c = 0; c < dv; ++c)
      out[c] = nan ? std::numeric_limits<F>::quiet_NaN() : none ? P::empty_output() : F(0);
    if (!nan && !none)
      answer = P::form == merge_form::pairs       ? pairs(out, count, b, h, i)
               : P::form == merge_form::undivided ? undivided(out, count, M, b, h, i)
               : P::form != merge_form::sums      ? sigmoids(out, count, b, h, i)
                                                  : sums(out, count, P::shift(M), l, b, h, i);
    if (nan) answer = std::numeric_limits<F>::quiet_NaN();
    if (call_.out_lse && P::writes_lse)
      *static_cast<F*>(at(*call_.out_lse, *call_.out_lse, b, h, i)) = none && !nan ? -P::infinity : answer;
  }

 private:
  static void* at(DLTensor const& of, DLTensor const& strides, std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const* const step = strides.strides;
    return static_cast<char*>(of.data) + of.byte_offset +
           static_cast<std::size_t>(b * step[0] + h * step[1] + i * step[2]) * sizeof(F);
  }
  F lse(std::int64_t s, std::int64_t b, std::int64_t h, std::int64_t i) const {
    return *static_cast<F const*>(at(*call_.lse[s], *call_.lse[P::strides_of(s)], b, h, i));
  }
  F const* o(std::int64_t s, std::int64_t b, std::int64_t h, std::int64_t i) const {
    return static_cast<F const*>(at(*call_.o[s], *call_.o[P::strides_of(s)], b, h, i));
  }

  F sums(F* out, std::int64_t count, F M, F& l, std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const dv = call_.out->shape[3];
    auto const part = [&](std::int64_t n) { return P::falling ? count - 1 - n : n; };
    if (P::weights_first)
      for (std::int64_t n = 0; n < count; ++n) l += P::exp(lse(part(n), b, h, i) - M);
    F const whole = l;
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t const s = part(n);
      F const x = lse(s, b, h, i);
      if (!P::reads(x)) continue;
      F const weight = P::weights_first ? P::exp(x - M) / whole : P::exp(x - M);
      if (!P::weights_first) l += weight;
      F const* const row = o(s, b, h, i);
      for (std::int64_t c = 0; c < dv; ++c) out[c] += weight * row[c];
    }
    for (std::int64_t c = 0; !P::weights_first && c < dv; ++c) out[c] /= l;
    return P::log_sum(M, l);
  }

  /// One part after the other: merge(a, x, row) ← into out, of LSE a, the part of LSE x, and returns the LSE of both.
  template <class Merge>
  F one_by_one(F* out, std::int64_t count, std::int64_t b, std::int64_t h, std::int64_t i, Merge&& merge) {
    F a = -P::infinity;
    for (std::int64_t s = 0; s < count; ++s) {
      F const x = lse(s, b, h, i);
      if (!P::reads(x)) continue;
      F const* const row = o(s, b, h, i);
      if (a != -P::infinity) a = merge(a, x, row);
      else std::copy_n(row, call_.out->shape[3], out), a = x;
    }
    return a;
  }

  /// LSE = M + log(exp(a − M) + exp(b − M)), and a division in each.
  F pairs(F* out, std::int64_t count, std::int64_t b, std::int64_t h, std::int64_t i) {
    return one_by_one(out, count, b, h, i, [&](F a, F x, F const* row) {
      F const M = P::pair_reference(a, x), kept = P::exp(a - M), added = P::exp(x - M), sum = kept + added;
      for (std::int64_t c = 0; c < call_.out->shape[3]; ++c) out[c] = (kept * out[c] + added * row[c]) / sum;
      return P::log_sum(M, sum);
    });
  }

  /// o − σ(LSE_s − LSE)·(o − o_s), or with the sigmoids of both differences.
  F sigmoids(F* out, std::int64_t count, std::int64_t b, std::int64_t h, std::int64_t i) {
    return one_by_one(out, count, b, h, i, [&](F a, F x, F const* row) {
      F const kept = P::sigmoid(-P::ahead(a, x)), added = P::sigmoid(P::ahead(a, x));
      for (std::int64_t c = 0; c < call_.out->shape[3]; ++c)
        out[c] =
            P::form == merge_form::two_sigmoids ? kept * out[c] + added * row[c] : out[c] - added * (out[c] - row[c]);
      return P::merged_lse(a, x);
    });
  }

  /// The LSE first, then O as the sum of exp(LSE_s − LSE)·O_s.
  F undivided(F* out, std::int64_t count, F M, std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const dv = call_.out->shape[3];
    F l = 0;
    for (std::int64_t s = 0; s < count; ++s) l += P::exp(lse(s, b, h, i) - M);
    F const whole = P::log_sum(M, l);
    for (std::int64_t s = 0; s < count; ++s) {
      F const x = lse(s, b, h, i), weight = P::exp(x - P::weight_reference(M, whole));
      if (!P::reads(x)) continue;
      F const* const row = o(s, b, h, i);
      for (std::int64_t c = 0; c < dv; ++c) out[c] += weight * row[c];
    }
    return whole;
  }

  attest_merge_call const& call_;
};

/// P as attest_merge for f32 and f64 parts that are answered in their own type.
template <template <class> class P>
attest_status run_merge(attest_merge_call const* call) {
  if (call->abi_version != ATTEST_KERNEL_ABI_2 || call->parts < 1) return ATTEST_UNSUPPORTED;
  DLTensor const& out = *call->out;
  auto const all = [&]<class F>(std::type_identity<F>) {
    merge_kernel<F, P<F>> kernel(*call);
    for (std::int64_t b = 0; b < out.shape[0]; ++b)
      for (std::int64_t h = 0; h < out.shape[1]; ++h)
        for (std::int64_t i = 0; i < out.shape[2]; ++i) kernel.run(b, h, i);
    return ATTEST_OK;
  };
  if (out.dtype.code != kDLFloat || out.dtype.bits != call->o[0]->dtype.bits) return ATTEST_UNSUPPORTED;
  if (out.dtype.bits == 32) return all(std::type_identity<float>{});
  return out.dtype.bits == 64 ? all(std::type_identity<double>{}) : ATTEST_UNSUPPORTED;
}

/// The attention of a library with a merge.
template <class F>
struct attention_beside_merge : honest<F> {};

}  // namespace attest::zoo

/// A specimen whose attention is right and whose merge is `name`, in the symbols zoo_NAME and zoo_NAME_merge. It is
/// judged under the contract f32, or under the named contract.
#define ATTEST_MERGE(name, kind, seen_in, description) ATTEST_MERGE_UNDER("f32", name, kind, seen_in, description)
#define ATTEST_MERGE_UNDER(contract, name, kind, seen_in, description)                                      \
  namespace attest::zoo {                                                                                   \
  template <class F>                                                                                        \
  struct name;                                                                                              \
  }                                                                                                         \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) {                              \
    return attest::zoo::run<attest::zoo::attention_beside_merge>(call);                                     \
  }                                                                                                         \
  extern "C" ATTEST_EXPORT attest_status zoo_##name##_merge(attest_merge_call const* call) {                \
    return attest::zoo::run_merge<attest::zoo::name>(call);                                                 \
  }                                                                                                         \
  namespace attest::zoo {                                                                                   \
  [[maybe_unused]] static bool const registered_##name =                                                    \
      register_specimen({#name, kind, seen_in, description, zoo_##name, contract, false, operator_family}); \
  }                                                                                                         \
  template <class F>                                                                                        \
  struct attest::zoo::name : honest_merge<F>
