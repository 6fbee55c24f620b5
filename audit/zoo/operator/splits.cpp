// Decoding kernels that split the keys of few queries into parts: as many as threads, but at most one for 64 keys of
// the slot. Hence parts behind the keys of a short entry are empty, and a causal query may see only one part. They
// return no weights.
#include "audit/zoo/operator/kernel.hpp"

namespace attest::zoo {
namespace {

template <template <class> class P>
attest_status run_decoding(attest_call const* call) {
  return call->weights ? ATTEST_UNSUPPORTED : run_operator<P>(call);
}

template <class F>
struct decoding : honest_operator<F> {
  using place = operator_place<F>;

  template <class P>
  static std::int64_t parts(place const& at) {
    constexpr std::int64_t few_queries = 16, keys_of_a_part = 64, parts_by_default = 4;
    if (at.size().n > few_queries) return 1;
    return std::clamp<std::int64_t>(at.size().m / keys_of_a_part, 1, at.threads > 0 ? at.threads : parts_by_default);
  }
  static key_range part(place const& at, std::int64_t s, std::int64_t of, std::int64_t m) {
    std::int64_t const most = (at.size().m + of - 1) / of;
    return {std::min(s * most, m), std::min((s + 1) * most, m)};
  }
  static bool has_parts(place const& at) { return parts<decoding>(at) > 1; }
};

}  // namespace
}  // namespace attest::zoo

#define ATTEST_DECODING(name, kind, seen_in, description) \
  ATTEST_SPECIMEN_FOR(run_decoding, name, decoding<F>, kind, seen_in, description, "f32", false, operator_family)

ATTEST_DECODING(operator_decoding, no_bug, "", "few queries: the keys of the slot in as many parts as threads") {};

ATTEST_DECODING(split_of_nothing_weighs_1, bug_class::entries, "no public report", "a part without keys has LSE 0") {
  static void finish(operator_place<F> const& at, key_range const& keys, operator_part<F>& part) {
    if (decoding<F>::has_parts(at) && keys.first == keys.last) part.M = 0, part.l = 1;
  }
};

ATTEST_DECODING(split_of_nothing_is_nan, bug_class::empty_block, "tilelang#328",
                "where the first two parts see nothing, exp(LSE - maximum) is NaN") {
  static constexpr bool merges_nothing = true;
};

ATTEST_DECODING(split_of_nothing_is_old, bug_class::entries, "torchtitan#3235",
                "the place of a part without keys holds the last part that was written there") {
  static void finish(operator_place<F> const& at, key_range const& keys, operator_part<F>& part) {
    if (!decoding<F>::has_parts(at)) return;
    if (keys.first == keys.last && written.O.size() == part.O.size()) part = written;
    else written = part;
  }
  static inline thread_local operator_part<F> written;
};

ATTEST_DECODING(split_key_twice, bug_class::accuracy, "no public report",
                "the last key of each part is in the next one, too") {
  static key_range part(operator_place<F> const& at, std::int64_t s, std::int64_t of, std::int64_t m) {
    key_range keys = decoding<F>::part(at, s, of, m);
    if (s > 0 && keys.first < keys.last) --keys.first;
    return keys;
  }
};

ATTEST_DECODING(split_key_lost, bug_class::accuracy, "no public report",
                "parts of as many keys as divide by them lose the keys behind the last") {
  static key_range part(operator_place<F> const& at, std::int64_t s, std::int64_t of, std::int64_t m) {
    std::int64_t const most = at.size().m / of;
    return {std::min(s * most, m), std::min((s + 1) * most, m)};
  }
};

ATTEST_DECODING(split_lse_of_last, bug_class::lse, "no public report",
                "the LSE belongs to the last part that has keys") {
  static void finish(operator_place<F> const&, key_range const& keys, operator_part<F>& part) {
    if (keys.first < keys.last) last_M = part.M, last_l = part.l;
  }
  static F log_sum_exp(operator_place<F> const& at, F M, F l, F keys_M, F keys_l) {
    if (!decoding<F>::has_parts(at)) return honest_operator<F>::log_sum_exp(at, M, l, keys_M, keys_l);
    return honest_operator<F>::log_sum_exp(at, last_M, last_l, keys_M, keys_l);
  }
  static inline thread_local F last_M, last_l;
};

ATTEST_DECODING(split_lse_counts_parts, bug_class::lse, "no public report",
                "ln of the number of parts with keys is added to the LSE, unless a sink joins") {
  static F log_sum_exp(operator_place<F> const& at, F M, F l, F keys_M, F keys_l) {
    std::int64_t const of = decoding<F>::template parts<decoding<F>>(at), m = at.p.keys(at.b);
    std::int64_t used = 0;
    for (std::int64_t s = 0; s < of; ++s) {
      key_range const keys = decoding<F>::part(at, s, of, m);
      used += keys.first < keys.last;
    }
    F const lse = honest_operator<F>::log_sum_exp(at, M, l, keys_M, keys_l);
    bool const has_sink = M != keys_M || l != keys_l;
    return used > 1 && !has_sink ? lse + static_cast<F>(std::log(static_cast<double>(used))) : lse;
  }
};

ATTEST_DECODING(split_lse_elsewhere, bug_class::entries, "flash-attention#2842",
                "packed, an entry without keys has its LSE written where a query of the first entry has its own") {
  static operator_place<F> lse_place(operator_place<F> const& at) {
    operator_place<F> place = at;
    if (at.p.entries().queries.is_packed() && at.p.keys(at.b) == 0 && at.i < at.p.queries(0)) place.b = 0;
    return place;
  }
};

ATTEST_OPERATOR(split_unweighted, bug_class::lse, "flashinfer#4484",
                "equal parts, of at most 64 keys of the slot, are added without their weights") {
  template <class P>
  static std::int64_t parts(operator_place<F> const& at) {
    return std::max<std::int64_t>((at.size().m + 63) / 64, 1);
  }
  static key_range part(operator_place<F> const& at, std::int64_t s, std::int64_t of, std::int64_t m) {
    std::int64_t const most = (at.size().m + of - 1) / of;
    return {std::min(s * most, m), std::min((s + 1) * most, m)};
  }
  static F part_weight(F, F) { return 1; }
};
