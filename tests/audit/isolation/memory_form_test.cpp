// Memory forms: a call whose tensors lie elsewhere has the same outputs, and a kernel that gets a form wrong is found
// out by it.
#include <algorithm>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/tensors/elements.hpp"
#include "tests/audit/isolation/isolation.hpp"
#include "tests/audit/isolation/memory_forms.hpp"

namespace attest::tests::memory_form_test {
namespace {

namespace problem = attest::problem;
using Catch::Contains;

/// Every form gives the bits of the plain one, and breaks no promise.
void answers_every_form(isolated_kernel& kernel, element_type type) {
  for (auto const& [name, form] : forms()) {
    auto const problem = problem_for(form, type);
    auto const plain = ask(kernel, problem, {});
    REQUIRE(plain.report.outcome == call_outcome::succeeded);
    for (auto const where : all_positions) {
      auto const moved = ask(kernel, problem, form, where);
      INFO(name << ", placement " << static_cast<int>(where) << ": " << moved.report.sentence);
      REQUIRE(moved.report.outcome == call_outcome::succeeded);
      CHECK(moved.report.broken.empty());
      CHECK(same_bits(moved.outputs, plain.outputs));
    }
  }
}

}  // namespace

TEST_CASE("an honest kernel has the same outputs under every memory form", "[unit]") {
  auto naive = opened("naive");
  for (auto const type : {element_type::f32, element_type::f64}) answers_every_form(naive, type);
}

/// Far rows of 1160 bytes lie across the edges of pages, at which a head ends next to the next one.
TEST_CASE("wide rows that lie far apart hold what was drafted, wherever pages end", "[unit]") {
  auto naive = opened("naive");
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {1, 2, 1, 290});
  draft.k = owned_tensor::compact(element_type::f32, {1, 2, 23, 290});
  draft.v = owned_tensor::compact(element_type::f32, {1, 2, 23, 290});
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v})
    fill(*t, [](auto, auto h, auto j, auto c) { return static_cast<double>((h * 31 + j * 7 + c) % 19) / 16 - 0.5; });
  auto const problem = valid(std::move(draft));
  auto const plain = ask(naive, problem, {});
  for (std::int64_t const apart : {beyond_32_bits, std::int64_t{(1 << 30) + 64}, std::int64_t{(1 << 30) + 500}})
    for (auto const where : all_positions)
      CHECK(same_bits(ask(naive, problem, {.far_row = apart}, where).outputs, plain.outputs));
}

TEST_CASE("the built-in kernel has the same outputs under every memory form", "[unit]") {
  auto builtin = isolated_kernel::open(ATTEST_TEST_BUILTIN, "attest_attention", {}, ATTEST_TEST_RUNNER);
  REQUIRE(builtin);
  for (auto const type : {element_type::f32, element_type::f64}) answers_every_form(builtin.value(), type);
}

TEST_CASE("a kernel that gets a memory form wrong is right without it and found out under it", "[unit]") {
  struct expectation {
    char const* kernel;
    char const* form;
    char const* sentence;  ///< of the crash or the broken promise; empty where only the outputs show it
  };
  auto honest = opened("naive");
  for (auto const& [name, form_name, sentence] : {
           expectation{"int32_byte_offsets", "far batch", ""},
           {"int32_byte_offsets", "far heads", ""},
           {"int32_byte_offsets", "far rows", ""},
           {"int32_element_offsets", "far batch", "before the start of mask"},
           {"int32_element_offsets", "far heads", "before the start of mask"},
           {"int32_element_offsets", "far rows", "before the start of"},
           {"ignores_byte_offset", "unaligned", ""},
           {"q_as_compact", "heads inside", ""},
           {"q_as_compact", "far heads", ""},
           {"q_as_compact", "near rows", ""},
           {"v_as_compact", "V in K", ""},
           {"v_as_compact", "overlap", "past the end of v"},
           {"v_as_compact", "shared heads", "past the end of v"},
           {"out_as_compact", "row gap", "writes between the rows of o, at byte 16"},
           {"out_as_compact", "wide row gap", ""},
           {"out_as_compact", "heads inside", ""},
           {"lse_as_compact", "row gap", "writes between the rows of lse, at byte 12"},
           {"lse_as_compact", "far heads", ""},
           {"stride_0_as_compact", "shared batch", "past the end of k"},
           {"stride_0_as_compact", "shared heads", "past the end of k"},
           {"rows_never_overlap", "overlap", "past the end of v"},
           {"writes_gap", "row gap", "writes between the rows of o, at byte 16"},
           {"writes_gap", "near rows", "writes between the rows of o, at byte 16"},
       }) {
    auto const& form = form_named(form_name);
    auto const problem = problem_for(form);
    auto const right = ask(honest, problem, {});
    auto kernel = opened(name);
    auto const plain = ask(kernel, problem, {});
    CHECK(plain.report.broken.empty());
    CHECK(same_bits(plain.outputs, right.outputs));
    auto const wrong = ask(kernel, problem, form);
    std::string said;
    for (auto const& broken : wrong.report.broken) said += broken.sentence + "; ";
    INFO(name << ", " << form_name << ": " << wrong.report.sentence << ": " << said);
    bool const refuted =
        wrong.report.outcome != call_outcome::succeeded || !said.empty() || !same_bits(wrong.outputs, right.outputs);
    CHECK(refuted);
    CHECK_THAT(said, Contains(sentence));
    if (wrong.report.outcome == call_outcome::crashed) CHECK(wrong.report.broke(promise::stays_inside));
  }
}

TEST_CASE("what is checked without a form is checked under every one", "[unit]") {
  struct expectation {
    char const* kernel;
    promise broken;
  };
  for (auto const& [name, broken] : {expectation{"reads_past_k", promise::stays_inside},
                                     {"writes_past", promise::stays_inside},
                                     {"scales_q", promise::leaves_inputs},
                                     {"writes_descriptor", promise::leaves_descriptors},
                                     {"forgets_last_row", promise::writes_every_element}}) {
    auto kernel = opened(name);
    for (auto const& [form_name, form] : forms()) {
      // The end of a tensor with a gap, or before the next 64 bytes, is not the end of its pages.
      bool const ends_at_page = form.row_gap == 0 && !form.unaligned;
      auto const got = ask(kernel, problem_for(form), form);
      INFO(name << ", " << form_name << ": " << got.report.sentence);
      if (broken != promise::stays_inside || ends_at_page) CHECK(got.report.broke(broken));
      else CHECK((got.report.outcome == call_outcome::succeeded || got.report.outcome == call_outcome::crashed));
    }
  }
}

TEST_CASE("a problem that cannot have a form is refused with the reason", "[unit]") {
  auto const why = [](memory_form const& of, memory_form const& form) {
    auto const fault = memory_fault(problem_for(of), form);
    return fault ? fault->message() : "none";
  };
  for (auto const& [name, form] : forms()) {
    INFO(name);
    CHECK(why(form, form) == "none");
  }
  CHECK(why({}, {.v_in_k = true}) == "v: differs from the first columns of k");
  CHECK(why({}, {.shared_batch = true}) == "k: batch entries differ, and are to share their memory");
  CHECK(why({}, {.shared_heads = true}) == "k: heads differ, and are to share their memory");
  CHECK(why({.overlap = 3}, {.overlap = 2}) == "k: the last 2 elements of a row differ from the first of the next");
  CHECK(why({}, {.overlap = 5}) == "overlap: is 5, expected 0 to min(d, dv)");
  CHECK(why({}, {.row_gap = (1 << 20) + 1}) == "row_gap: is 1048577, expected 0 to 2^20");
  CHECK(why({}, {.far_row = -1}) == "far_row: is -1, expected 0 to 2^40");
  CHECK_THAT(why({.overlap = 3}, {.overlap = 3, .heads_inside = true}), Contains("overlap: rows that overlap"));
  auto wide = small_draft();  // dv = 5 > d = 4
  CHECK(memory_fault(valid(wide), {.v_in_k = true})->message() == "v: is wider than k, and is to be its first columns");
}

TEST_CASE("a form says what it is", "[unit]") {
  CHECK(memory_form{}.text().empty());
  CHECK(form_named("far inside").text() ==
        "V is the first columns of K; Q, K, V and O lie in the order [b, n, h, d]; 1 element lies between rows of the "
        "outputs; 2147483712 elements lie between batch entries; 5 elements lie between heads");
}

}  // namespace attest::tests::memory_form_test
