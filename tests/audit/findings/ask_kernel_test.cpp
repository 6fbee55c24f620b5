// Questions of find_condition, asked of kernels in processes of their own.
#include "audit/findings/ask_kernel.hpp"

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "audit/cases/random.hpp"
#include "audit/contract/contract.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::ask_kernel_test {
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
  question impossible = plain;  // no mask has a shape over packed rows
  impossible.judged.options = {feature::mask, feature::packed}, impossible.before = {impossible.judged};
  auto const never = ask_kernel(honest, in_seconds(60))(impossible);
  REQUIRE(never);
  CHECK(never->is == answer::refused);
  CHECK_FALSE(ask_kernel(honest, in_seconds(-1))(plain));
  auto const crashed = ask_kernel(crashing, in_seconds(60))({{plain.judged}, plain.judged, 3});
  REQUIRE(crashed);
  CHECK(crashed->is == answer::wrong);
  CHECK(crashed->first_wrong == 2);
}

TEST_CASE("a kernel that ignores mask and band has no condition", "[unit]") {
  audit_options const options = options_of("ignores_mask");
  call_form failing = form_of_sizes({2, 4, 4, 20, 40, 16, 24});
  failing.options = {feature::padding}, failing.length = 10, failing.threads = 2;
  auto const found = find_condition(failing, {}, ask_kernel(options, in_seconds(60)));
  CHECK_FALSE(found);  // no conjunction holds of both
}

TEST_CASE("an honest kernel is right with all values and in every memory form", "[unit]") {
  audit_options const options = options_of("naive");
  auto const ask = ask_kernel(options, in_seconds(60));
  auto const is = [&](call_form const& form) {
    INFO(form.text());
    auto const said = ask({{}, form});
    REQUIRE(said);
    return said->is;
  };
  call_form const plain = form_of_sizes({2, 4, 2, 12, 200, 16, 8});
  using enum value_form;
  for (value_form const values : {gaussian, digits, pointed, edge_digits, nan_value, weightless_nan, far_block}) {
    call_form form = plain;
    form.values = values;
    CHECK(is(form) == answer::right);
  }
  memory_form const forms[]{
      {.v_in_k = true},       {.shared_batch = true}, {.shared_heads = true}, {.overlap = 3},
      {.heads_inside = true}, {.unaligned = true},    {.row_gap = 5},         {.far_batch = std::int64_t{1} << 31}};
  for (memory_form const& memory : forms) {
    call_form form = plain;
    form.memory = memory;
    CHECK(is(form) == answer::right);
  }
  call_form impossible = form_of_sizes({1, 1, 1, 4, 4, 8, 16});
  impossible.memory.v_in_k = true;
  CHECK(is(impossible) == answer::refused);
}

TEST_CASE("the condition of a kernel that misreads memory is the memory form that failed", "[unit]") {
  struct misreading {
    char const *kernel, *sentence;
    memory_form memory;
  };
  for (misreading const& one :
       std::initializer_list<misreading>{{"ignores_byte_offset", "wrong where byte_offset ≠ 0", {.unaligned = true}},
                                         {"out_as_compact", "wrong where O is not compact", {.row_gap = 4}},
                                         {"int32_element_offsets",
                                          "wrong where a tensor reaches beyond 2^31 elements",
                                          {.far_batch = (std::int64_t{1} << 32) + 64}},
                                         {"int32_byte_offsets",
                                          "wrong where a tensor reaches beyond 2^31 bytes",
                                          {.far_batch = (std::int64_t{1} << 32) + 64}}}) {
    audit_options const options = options_of(one.kernel);
    call_form failing = form_of_sizes({3, 2, 2, 6, 20, 16, 8});
    failing.memory = one.memory;
    auto const found = find_condition(failing, {}, ask_kernel(options, in_seconds(60)));
    REQUIRE(found);
    CHECK(found->sentence == one.sentence);
  }
}

TEST_CASE("the row that was seen to be wrong is judged in every question", "[unit]") {
  audit_options const options = options_of("one_row_misses_a_key");
  call_form const failing = form_of_sizes({1, 1, 1, 3000, 40, 8, 8});
  auto const found = find_condition(failing, {}, ask_kernel(options, in_seconds(60), {0, 0, 1023}));
  REQUIRE(found);
  CHECK(found->sentence == "wrong from n = 1024 on");
}

}  // namespace
}  // namespace attest::audit::ask_kernel_test
