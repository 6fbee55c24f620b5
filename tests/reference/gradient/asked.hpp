// A kernel's answer to a case beside the bound: the worst error over bound of each gradient.
#pragma once

#include <algorithm>
#include <array>

#include "tests/reference/gradient/honest.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

struct asked {
  std::array<double, 5> worst{};  ///< by reference::gradient
  std::size_t elements = 0, judged = 0, refuted = 0, undecided = 0;

  void add(asked const& other) {
    for (std::size_t n = 0; n < 5; ++n) worst[n] = std::max(worst[n], other.worst[n]);
    elements += other.elements, judged += other.judged, refuted += other.refuted, undecided += other.undecided;
  }
  double most() const { return *std::max_element(worst.begin(), worst.end()); }
};

/// Prints the counts, and requires that more than eight tenths of the elements were judged.
inline void check_most_are_judged(asked const& total) {
  WARN("elements " << total.elements << ", judged " << total.judged << ", undecided " << total.undecided
                   << ", worst dQ " << total.worst[0] << " dK " << total.worst[1] << " dV " << total.worst[2]
                   << " dBias " << total.worst[3] << " dSink " << total.worst[4]);
  CHECK(total.judged > total.elements * 8 / 10);
}

/// Judges an answer that the kernel of the models gave for the case stored as T.
template <class T>
asked ask(stored_case<T> const& stored, honest_models const& models, honest_answer const& got,
          reference::gradient_mode mode) {
  using reference::gradient, reference::gradient_verdict;
  gradient_case const& c = stored.from;
  auto const& s = c.size;
  std::vector<T> o;
  for (double const x : got.o) o.push_back(audit::nearest_element<T>(x));
  std::vector<problem::lse_element<T>> lse;
  for (double const x : got.lse) lse.push_back(static_cast<problem::lse_element<T>>(x));
  auto inputs = stored.inputs();
  if (mode != reference::gradient_mode::own) {
    inputs.o = stored_case<T>::rows(o, {s.b, s.hq, s.n, s.dv});
    inputs.lse = stored_case<T>::rows(lse, {s.b, s.hq, s.n, 1});
  }
  auto made = reference::gradient_source<T>::make(*stored.instance, inputs, models.forward, models.backward, mode);
  asked found;
  if (!made) return found.refuted = 1, found;
  auto source = std::move(made).value();
  auto const take = [&](gradient which, reference::gradient_element const& element, double x) {
    ++found.elements;
    auto const verdict = reference::verdict_on(element, x);
    found.refuted += verdict == gradient_verdict::refuted, found.undecided += verdict == gradient_verdict::undecided;
    if (verdict == gradient_verdict::not_judged) return;
    ++found.judged;
    double const error = std::max(x - element.upper, element.lower - x);
    double& worst = found.worst[static_cast<std::size_t>(which)];
    if (error > 0) worst = std::max(worst, element.bound > 0 ? error / element.bound : 1e300);
  };
  std::array const given{&got.dq, &got.dk, &got.dv};
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t g = 0; g < s.hk; ++g)
      source.group(b, g).each([&](reference::gradient_index const& at, reference::gradient_element const& element) {
        take(at.which, element, (*given[static_cast<std::size_t>(at.which)])[place_of(s, at)]);
      });
  auto const dbias = source.dbias(), dsink = source.dsink();
  for (std::size_t at = 0; at < dbias.element.size(); ++at) take(gradient::dbias, dbias.element[at], got.dbias[at]);
  for (std::size_t at = 0; at < dsink.element.size(); ++at) take(gradient::dsink, dsink.element[at], got.dsink[at]);
  return found;
}

}  // namespace attest::tests
