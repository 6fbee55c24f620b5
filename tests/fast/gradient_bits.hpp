// Calls with many features, and the bits of their gradients.
#pragma once

#include <random>

#include "tests/fast/gradient_reference.hpp"

namespace attest::tests {

/// A band, a mask with empty rows, a broadcast bias, sinks and perhaps a softcap.
template <class T>
written<T> busy(problem::sizes const& s, std::uint64_t seed) {
  written<T> asked(s, seed);
  std::mt19937_64 random(seed + 1);
  asked.band = {static_cast<std::int64_t>(random() % 40), -1, static_cast<std::int64_t>(random() % 60)};
  asked.mask = owned<std::uint8_t>::shaped({s.b, 1, s.n, s.m});
  asked.mask.each([&](std::uint8_t& x, auto, auto, auto i, auto) { x = i % 11 != 5 && random() % 5 != 0; });
  asked.bias = owned<T>::shaped({1, s.hq, 1, s.m});
  asked.bias.each([&](T& x, auto...) { x = tests::element_from<T>(static_cast<double>(random() % 1000) / 300); });
  asked.sink = owned<T>::shaped({s.hq});
  asked.sink.each([&](T& x, auto...) { x = tests::element_from<T>(static_cast<double>(random() % 5)); });
  if (seed % 2 == 0) asked.softcap = 4;
  return asked;
}

template <class T>
written_gradients<T> gradients_of(written<T> const& asked, fast::options const& how = {.threads = 1}) {
  auto at = tests::forward_of(asked, 5);
  tests::differentiate(asked, at, how);
  return at;
}

}  // namespace attest::tests
