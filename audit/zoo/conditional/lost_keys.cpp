// Wrong answers in which keys are lost, doubled or skipped.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "audit/zoo/conditional/changed_call.hpp"
#include "audit/zoo/conditional/wrong.hpp"

namespace attest::zoo {
namespace {

/// Calls f(b, h, i) for every row of the scores.
template <class Function>
void for_each_row(asked const& a, Function&& f) {
  for (std::int64_t b = 0; b < a.b; ++b)
    for (std::int64_t h = 0; h < a.hq; ++h)
      for (std::int64_t i = 0; i < a.n; ++i) f(b, h, i);
}

/// The weight e^(s − lse) of one key, 0 where the query does not see it.
double weight_of(asked const& a, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double lse) {
  return std::exp(a.score(b, h, i, j) - lse);
}

/// O[b, h, i, ·] ← (O + Σ change_j·v_j) / (1 + Σ change_j), where key j's weight grows by change_j.
class row_change {
 public:
  row_change(asked const& a, std::int64_t b, std::int64_t h, std::int64_t i)
      : a_(a), b_(b), h_(h), i_(i), sums_(static_cast<std::size_t>(a.dv)) {}

  void add(std::int64_t j, double change) {
    total_ += change;
    for (std::int64_t c = 0; c < a_.dv; ++c)
      sums_[static_cast<std::size_t>(c)] += change * number_at(*a_.call.v, b_, h_ / a_.group(), j, c);
  }
  /// A weight without a key.
  void add_weight(double change) { total_ += change; }
  void write() const {
    DLTensor const& o = *a_.call.out;
    with_element_type(o, [&]<class F>(std::type_identity<F>) {
      for (std::int64_t c = 0; c < a_.dv; ++c) {
        double const before = read<F, double>(o, b_, h_, i_, c);
        store(o, b_, h_, i_, c, stored_as<F>((before + sums_[static_cast<std::size_t>(c)]) / (1 + total_)));
      }
    });
  }
  double total() const { return total_; }

 private:
  asked const& a_;
  std::int64_t b_, h_, i_;
  std::vector<double> sums_;
  double total_ = 0;
};

}  // namespace

attest_status forgets_the_last_key(asked const& a) {
  if (a.m == 0) return attest_attention(&a.call);
  changed_call shorter(a.call);
  // An axis of size 1 stays as it is, so the number of keys is written.
  for (changed_tensor* t : {&shorter.k, &shorter.v}) t->shape[2] = a.m - 1;
  for (changed_tensor* t : {&shorter.mask, &shorter.bias, &shorter.weights}) t->shape[3] = a.m - 1;
  attest_status const status = shorter.answer();
  if (status != ATTEST_OK || !a.call.weights) return status;
  changed_tensor last(*a.call.weights);
  last.keep(3, a.m - 1, 1);
  for_each_element(last.t, [](double, auto...) { return 0.0; });
  return status;
}

namespace {

/// The honest answer, then change(row_change&, lse, b, h, i) of each row with a finite LSE.
template <class Change>
attest_status with_changed_rows(asked const& a, Change&& change) {
  changed_call with_lse(a.call);
  if (!a.call.lse) with_lse.own_lse();
  attest_status const status = with_lse.answer();
  if (status != ATTEST_OK || a.m == 0) return status;
  for_each_row(a, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    double const lse = number_at(with_lse.lse.t, b, h, i);
    if (!std::isfinite(lse)) return;
    row_change row(a, b, h, i);
    change(row, lse, b, h, i);
    row.write();
  });
  return status;
}

}  // namespace

attest_status counts_the_middle_key_twice(asked const& a) {
  return with_changed_rows(a, [&](row_change& row, double lse, std::int64_t b, std::int64_t h, std::int64_t i) {
    row.add(a.m / 2, weight_of(a, b, h, i, a.m / 2, lse));
  });
}

attest_status counts_a_key_that_is_not_there(asked const& a) {
  return with_changed_rows(a, [](row_change& row, double lse, auto...) { row.add_weight(std::exp(-lse)); });
}

attest_status skips_blocks_20_below(asked const& a) {
  attest_status const status = attest_attention(&a.call);
  if (status != ATTEST_OK || a.call.out->dtype.bits < 32) return status;
  constexpr std::int64_t rows = 64, block = 64;
  for (std::int64_t b = 0; b < a.b; ++b)
    for (std::int64_t h = 0; h < a.hq; ++h)
      for (std::int64_t first = 0; first < a.n; first += rows) {
        std::int64_t const count = std::min(rows, a.n - first);
        changed_call scan(a.call);
        scan.keep_rows(b, h, first, count);
        scan.out.own_zeros();
        scan.call.lse = nullptr;
        changed_tensor const& weights = scan.own_weights();
        if (scan.answer() != ATTEST_OK) return ATTEST_FAILED;
        for (std::int64_t i = 0; i < count; ++i) {
          std::vector<double> p(static_cast<std::size_t>(a.m));
          for (std::size_t j = 0; j < p.size(); ++j) p[j] = number_at(weights.t, 0, 0, i, static_cast<std::int64_t>(j));
          double const heaviest = p.empty() ? 0 : *std::ranges::max_element(p);
          row_change change(a, b, h, first + i);
          for (std::int64_t from = 0; from < a.m; from += block) {
            auto const begin = p.begin() + from, end = p.begin() + std::min(from + block, a.m);
            double const in_block = *std::max_element(begin, end);
            if (!(in_block > 0 && in_block < heaviest * 2e-9)) continue;  // e⁻²⁰ ≈ 2·10⁻⁹
            for (auto at = begin; at != end; ++at)
              if (*at > 0) change.add(at - p.begin(), -*at);
          }
          if (change.total() != 0) change.write();
        }
      }
  return status;
}

attest_status skips_values_without_weight(asked const& a) {
  struct hole {
    std::int64_t b, hk, j, c;
  };
  std::vector<hole> holes;
  changed_call filled(a.call);
  DLTensor const& v = *a.call.v;
  for (std::int64_t b = 0; b < a.b; ++b)
    for (std::int64_t h = 0; h < a.hk; ++h)
      for (std::int64_t j = 0; j < a.m; ++j)
        for (std::int64_t c = 0; c < a.dv; ++c)
          if (std::isnan(number_at(v, b, h, j, c))) holes.push_back({b, h, j, c});
  if (holes.empty() || holes.size() > 256) return attest_attention(&a.call);
  filled.v.own_copy();
  for_each_element(filled.v.t, [](double x, auto...) { return std::isnan(x) ? 0 : x; });
  if (!a.call.lse) filled.own_lse();
  attest_status const status = filled.answer();
  if (status != ATTEST_OK) return status;
  with_element_type(*a.call.out, [&]<class F>(std::type_identity<F>) {
    for_each_row(a, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      double const lse = number_at(filled.lse.t, b, h, i);
      for (hole const& at : holes)
        if (at.b == b && at.hk == h / a.group() && weight_of(a, b, h, i, at.j, lse) > 1e-44)
          store(*a.call.out, b, h, i, at.c, stored_as<F>(std::nan("")));
    });
  });
  return status;
}

}  // namespace attest::zoo
