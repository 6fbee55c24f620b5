// Questions of find_condition, asked of kernels in processes of their own.
#include <chrono>
#include <cstdlib>
#include <string>

#include "audit/cases/random.hpp"
#include "audit/contract/contract.hpp"
#include "audit/session/ask_kernel.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {
namespace {

std::chrono::steady_clock::time_point in_seconds(int count) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(count);
}

audit_options options_of(std::string const& name) {
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  audit_options options;
  options.kernel = std::string(ATTEST_TEST_KERNELS "/") + name + ".so";
  options.claim = find_contract("f32");
  return options;
}

call_form form_of_sizes(problem::sizes const& sizes) {
  call_form form;
  form.size = sizes;
  return form;
}

TEST_CASE("an honest kernel is right, a crash is wrong, too much is refused, and late nothing is asked", "[unit]") {
  question const plain{{}, form_of_sizes({1, 2, 2, 8, 8, 8, 8})};
  question const large{{}, form_of_sizes({64, 64, 64, 4096, 4096, 128, 128})};
  audit_options const honest = options_of("naive"), crashing = options_of("crash");
  auto const said = ask_kernel(honest, in_seconds(60))(plain);
  REQUIRE(said);
  CHECK(said->is == answer::right);
  auto const refused = ask_kernel(honest, in_seconds(60))(large);
  REQUIRE(refused);
  CHECK(refused->is == answer::refused);
  CHECK_FALSE(ask_kernel(honest, in_seconds(-1))(plain));
  auto const crashed = ask_kernel(crashing, in_seconds(60))({{plain.judged}, plain.judged, 3});
  REQUIRE(crashed);
  CHECK(crashed->is == answer::wrong);
  CHECK(crashed->first_wrong == 2);
}

TEST_CASE("the condition of a kernel that ignores mask and band is the mask that failed", "[unit]") {
  audit_options const options = options_of("ignores_mask");
  call_form failing = form_of_sizes({2, 4, 4, 20, 40, 16, 24});
  failing.options = {feature::padding}, failing.length = 10, failing.threads = 2;
  auto const found = find_condition(failing, {}, ask_kernel(options, in_seconds(60)));
  REQUIRE(found);
  // One key cannot be hidden; and causal is ignored as well.
  CHECK(found->sentence == "wrong where padding and m > 1, and elsewhere too");
  CHECK(found->questions <= 90);
}

}  // namespace
}  // namespace attest::audit
