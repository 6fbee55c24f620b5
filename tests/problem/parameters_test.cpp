// The list of parameters: every user of it relies on its being whole, and on the order of files and reports.
#include "problem/parameters.hpp"

#include <limits>
#include <string>
#include <type_traits>

#include "problem/call_parameters.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::parameters_test {
using problem::parameters;

namespace {

/// The same with every visited parameter away from its neutral value, and valid.
parameters all_changed() {
  parameters changed;
  problem::visit_parameters(changed, [n = 1]<class T>(problem::parameter<T> const& about, T& value) mutable {
    using number = std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t, double>;
    value = static_cast<number>(++n);
    if (about.name == std::string("align")) value = static_cast<number>(1);
    if (about.name == std::string("dropout")) value = static_cast<number>(0.5);
  });
  return changed;
}

}  // namespace

TEST_CASE("every parameter is visited once, by name, with its neutral value", "[unit]") {
  std::string names;
  problem::visit_parameters(parameters{}, [&]<class T>(problem::parameter<T> const& parameter, T const& value) {
    names += std::string(names.empty() ? "" : " ") + parameter.name;
    CHECK(value == parameter.neutral);
    if constexpr (std::is_same_v<T, std::int64_t>) CHECK(parameter.least <= parameter.neutral);
  });
  CHECK(names == "scale softcap diagonal left right align dropout block_q block_k");
  CHECK(
      all_changed() ==
      parameters{.scale = 2, .softcap = 3, .band = {4, 5, 6}, .align = 1, .dropout = 0.5, .block_q = 9, .block_k = 10});
}

TEST_CASE("the members that a failing problem is rid of are all of them", "[unit]") {
  parameters simplest = all_changed();
  problem::visit_simplest([&](auto const member, auto const& value) { simplest.*member = value; });
  // The sizes of blocks go with the block mask.
  CHECK(simplest == parameters{.scale = 1, .block_q = 9, .block_k = 10});
}

TEST_CASE("a call of the C interface has every parameter", "[unit]") {
  attest_call call{};
  call.abi_version = ATTEST_KERNEL_ABI_2;
  problem::set_parameters(call, all_changed());
  CHECK(problem::parameters_of(call) == all_changed());
  call.abi_version = ATTEST_KERNEL_ABI;  // it ends before the later ones
  CHECK(problem::parameters_of(call) == parameters{.scale = 2, .softcap = 3, .band = {4, 5, 6}});
  problem::set_parameters(call, {});
  CHECK(std::isnan(call.scale));
  CHECK(problem::parameters_of(call) == parameters{});
}

TEST_CASE("the first fault of parameters is told", "[unit]") {
  CHECK(!problem::parameters_fault(all_changed(), 4));
  CHECK(!problem::parameters_fault({}, 1));
  CHECK(problem::parameters_fault({}, 0)->argument == "scale");
  CHECK(problem::parameters_fault({.scale = std::numeric_limits<double>::infinity(), .softcap = -1}, 4)->message() ==
        "scale: must be a finite number");
  CHECK(problem::parameters_fault({.softcap = -1}, 4)->argument == "softcap");
  CHECK(problem::parameters_fault({.band = {0, -1, -3}}, 4)->message() ==
        "right: is -3, expected -1 (unbounded) or more");
}

}  // namespace attest::tests::parameters_test
