// Wrong answers: an honest answer with a part changed.
#include <cmath>

#include "audit/zoo/conditional/changed_call.hpp"
#include "audit/zoo/conditional/wrong.hpp"

namespace attest::zoo {
namespace {

/// The honest answer, then `spoil` on a descriptor of `output`, where the call has that output.
template <class Spoil>
attest_status spoiled(asked const& a, DLTensor const* output, Spoil&& spoil) {
  attest_status const status = attest_attention(&a.call);
  if (status != ATTEST_OK || !output) return status;
  changed_tensor part(*output);
  spoil(part);
  return status;
}

void add_1(changed_tensor const& part) {
  for_each_element(part.t, [](double x, auto...) { return x + 1; });
}

/// Spoils only the last of the indices on an axis of O.
attest_status plus_1_at_the_end_of(int axis, asked const& a) {
  return spoiled(a, a.call.out, [&](changed_tensor& o) {
    auto const size = o.shape[static_cast<std::size_t>(axis)];
    if (size > 0) o.keep(axis, size - 1, 1), add_1(o);
  });
}

/// How many keys the band shows query i.
std::int64_t keys_in_band(asked const& a, std::int64_t i) {
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < a.m; ++j) count += in_band(i, j, a.call.diagonal, a.call.left, a.call.right);
  return count;
}

/// NaN becomes 0 in O and weights and −∞ in LSE, in the rows that `is_swallowed` names.
template <class Predicate>
attest_status without_nan(asked const& a, Predicate&& is_swallowed) {
  attest_status const status = attest_attention(&a.call);
  if (status != ATTEST_OK) return status;
  for (DLTensor* output : {a.call.out, a.call.lse, a.call.weights}) {
    if (!output) continue;
    for (std::int64_t i = 0; i < a.n; ++i) {
      if (!is_swallowed(i)) continue;
      changed_tensor row(*output);
      row.keep(2, i, 1);
      double const instead = output == a.call.lse ? -HUGE_VAL : 0;
      for_each_element(row.t, [&](double x, auto...) { return std::isnan(x) ? instead : x; });
    }
  }
  return status;
}

}  // namespace

attest_status o_plus_1(asked const& a) { return spoiled(a, a.call.out, add_1); }
attest_status o_plus_1_in_the_last_row(asked const& a) { return plus_1_at_the_end_of(2, a); }
attest_status o_plus_1_in_the_last_head(asked const& a) { return plus_1_at_the_end_of(1, a); }
attest_status o_plus_1_in_the_last_entry(asked const& a) { return plus_1_at_the_end_of(0, a); }
attest_status o_plus_1_in_the_last_column(asked const& a) { return plus_1_at_the_end_of(3, a); }
attest_status o_plus_1_in_row_1023(asked const& a) {
  return spoiled(a, a.call.out, [](changed_tensor& o) { o.keep(2, 1023, 1), add_1(o); });
}
attest_status o_times_m(asked const& a) {
  return spoiled(a, a.call.out, [&](changed_tensor const& o) {
    for_each_element(o.t, [&](double x, auto...) { return x * static_cast<double>(a.m); });
  });
}
attest_status o_in_bf16(asked const& a) {
  return spoiled(a, a.call.out, [](changed_tensor const& o) {
    for_each_element(o.t, [](double x, auto...) { return audit::number(stored_as<problem::bf16>(x)); });
  });
}
attest_status lse_plus_1(asked const& a) { return spoiled(a, a.call.lse, add_1); }
attest_status weights_halved(asked const& a) {
  return spoiled(a, a.call.weights, [](changed_tensor const& weights) {
    for_each_element(weights.t, [](double x, auto...) { return x / 2; });
  });
}

attest_status nan_is_0(asked const& a) {
  return without_nan(a, [](std::int64_t) { return true; });
}
attest_status nan_is_0_below_16_keys(asked const& a) {
  return without_nan(a, [&](std::int64_t i) { return keys_in_band(a, i) < 16; });
}

attest_status forgets_the_last_row(asked const& a) {
  changed_call shorter(a.call);
  if (a.n < 2) return ATTEST_OK;
  for (changed_tensor* t : {&shorter.q, &shorter.mask, &shorter.bias, &shorter.out, &shorter.lse, &shorter.weights})
    t->keep(2, 0, a.n - 1);
  return shorter.answer();
}

}  // namespace attest::zoo
