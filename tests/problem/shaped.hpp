// Arguments of given shapes, and what their validation refuses.
#pragma once

#include "problem/dlpack.hpp"
#include "problem/instance.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

using problem::error_code;
using problem::layout;

/// q, k, v of any shapes, all with the same data pointer: validation reads shapes and strides only.
inline problem::arguments<float> shaped(layout const& q, layout const& k, layout const& v) {
  static float const somewhere = 0;
  problem::arguments<float> unchecked;
  unchecked.q = {&somewhere, q}, unchecked.k = {&somewhere, k}, unchecked.v = {&somewhere, v};
  return unchecked;
}
inline problem::arguments<float> ordinary() {
  return shaped(layout::compact({2, 4, 3, 5}), layout::compact({2, 2, 7, 5}), layout::compact({2, 2, 7, 6}));
}

inline void refused(problem::arguments<float> const& unchecked, error_code code, std::string_view argument,
                    std::string_view says) {
  auto const checked = problem::instance<float>::make(unchecked);
  REQUIRE_FALSE(checked.has_value());
  INFO(checked.why().message());
  CHECK(checked.why().code == code);
  CHECK(checked.why().argument == argument);
  CHECK(checked.why().reason.find(says) != std::string::npos);
}

}  // namespace attest::tests
