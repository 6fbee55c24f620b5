// Mistakes about the weights of other queries. These kernels hold the scores of a head as a matrix.
#include <vector>

#include "audit/zoo/define.hpp"

namespace attest::zoo {

/// A number for each query and key of a head. A hidden key has the score −∞.
template <class F>
struct pair_matrix {
  std::int64_t n, m;
  std::vector<F> numbers;
  F& operator()(std::int64_t i, std::int64_t j) { return numbers[static_cast<std::size_t>(i * m + j)]; }
};

/// The weights e^(s − M) of a row, undivided; returns their sum.
template <class F>
F weigh_row(pair_matrix<F>& of, std::int64_t i) {
  F largest = -honest<F>::infinity, sum = 0;
  for (std::int64_t j = 0; j < of.m; ++j)
    if (F const s = of(i, j); s > largest || std::isnan(s)) largest = s;
  for (std::int64_t j = 0; j < of.m; ++j) {
    F& s = of(i, j);
    s = s == -honest<F>::infinity ? F(0) : std::exp(s - largest);
    sum += s;
  }
  return sum;
}

/// P::weigh makes weights of the scores of each head.
template <class P, class F>
attest_status run_heads(attest_call const& call) {
  if (call.lse || call.weights) return ATTEST_UNSUPPORTED;
  auto const score = [&](place const& at, std::int64_t j) {
    F product = 0;
    for (std::int64_t t = 0; t < at.depth(); ++t) product += P::query(at, t) * P::key(at, j, t);
    return P::score(at, product, j);
  };
  for (std::int64_t b = 0; b < call.q->shape[0]; ++b)
    for (std::int64_t h = 0; h < call.q->shape[1]; ++h) {
      place at{call, b, h, 0, 0};
      at.hk = P::key_head(at);
      auto const sees = [&](std::int64_t j) { return P::in_band(at, j) && P::attends(at, j); };
      pair_matrix<F> of{at.queries(), at.keys(), std::vector<F>(static_cast<std::size_t>(at.queries() * at.keys()))};
      for (at.i = 0; at.i < of.n; ++at.i)
        for (std::int64_t j = 0; j < of.m; ++j) of(at.i, j) = sees(j) ? score(at, j) : -honest<F>::infinity;
      P::weigh(of);
      for (at.i = 0; at.i < of.n; ++at.i)
        for (std::int64_t c = 0; c < at.columns(); ++c) {
          F sum = 0;
          for (std::int64_t j = 0; j < of.m; ++j)
            if (sees(j)) sum += of(at.i, j) * P::value(at, j, c);
          store(*call.out, b, h, at.i, c, sum);
        }
    }
  return ATTEST_OK;
}

template <template <class> class P>
attest_status run_matrices(attest_call const* call) {
  DLDataType const type = call->q->dtype;
  if (!is_uniform(*call) || type.code != kDLFloat) return ATTEST_UNSUPPORTED;
  if (type.bits == 32) return run_heads<P<float>, float>(*call);
  if (type.bits == 64) return run_heads<P<double>, double>(*call);
  return ATTEST_UNSUPPORTED;
}

}  // namespace attest::zoo

#define ATTEST_OF_HEADS(name, kind, seen_in, description) \
  ATTEST_SPECIMEN_FOR(run_matrices, name, honest<F>, kind, seen_in, description)

ATTEST_OF_HEADS(weighs_whole_heads, no_bug, "", "the weights of all queries of a head, then O") {
  static void weigh(pair_matrix<F>& of) {
    for (std::int64_t i = 0; i < of.n; ++i) {
      F const sum = weigh_row(of, i);
      for (std::int64_t j = 0; j < of.m && sum != 0; ++j) of(i, j) /= sum;
    }
  }
};

ATTEST_OF_HEADS(softmax_over_queries, bug_class::accuracy, "no public report",
                "the weights of a key sum to 1 over the queries") {
  static void weigh(pair_matrix<F>& of) {
    pair_matrix<F> turned{of.m, of.n, of.numbers};
    for (std::int64_t j = 0; j < of.m; ++j) {
      for (std::int64_t i = 0; i < of.n; ++i) turned(j, i) = of(i, j);
      F const sum = weigh_row(turned, j);
      for (std::int64_t i = 0; i < of.n; ++i) of(i, j) = sum != 0 ? turned(j, i) / sum : F(0);
    }
  }
};

ATTEST_OF_HEADS(sum_of_tile_row, bug_class::accuracy, "no public report",
                "the weights of a query are divided by the sum of the first query of its tile of 16") {
  static void weigh(pair_matrix<F>& of) {
    F sum = 0;
    for (std::int64_t i = 0; i < of.n; ++i) {
      F const own = weigh_row(of, i);
      if (i % 16 == 0) sum = own;
      for (std::int64_t j = 0; j < of.m && sum != 0; ++j) of(i, j) /= sum;
    }
  }
};
