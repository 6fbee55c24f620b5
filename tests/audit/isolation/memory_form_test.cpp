// Memory forms: a call whose tensors lie elsewhere has the same outputs, and a kernel that gets a form wrong is found
// out by it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/tensors/elements.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace {

using namespace attest::tests;
namespace problem = attest::problem;
using Catch::Contains;

constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 31) + 64;

struct named_form {
  std::string name;
  memory_form form;
};

std::vector<named_form> const& forms() {
  static std::vector<named_form> const all{
      {"plain", {}},
      {"V in K", {.v_in_k = true}},
      {"shared batch", {.shared_batch = true}},
      {"shared heads", {.shared_heads = true}},
      {"overlap", {.overlap = 3}},
      {"heads inside", {.heads_inside = true}},
      {"out inside", {.o_inside = true}},
      {"head gap", {.head_gap = 5}},
      {"out inside with gaps", {.o_inside = true, .row_gap = 2, .head_gap = 3}},
      {"unaligned", {.unaligned = true}},
      {"row gap", {.row_gap = 5}},
      {"wide row gap", {.row_gap = 1 << 20}},
      {"far batch", {.far_batch = beyond_32_bits}},
      {"far heads", {.far_head = beyond_32_bits}},
      {"far rows", {.far_row = beyond_32_bits}},
      {"near rows", {.far_row = 7}},
      {"all together",
       {.v_in_k = true,
        .shared_batch = true,
        .shared_heads = true,
        .unaligned = true,
        .row_gap = 3,
        .far_batch = beyond_32_bits,
        .far_head = beyond_32_bits}},
      {"far inside", {.v_in_k = true, .heads_inside = true, .row_gap = 1, .far_batch = beyond_32_bits, .far_head = 5}},
      {"overlap in K", {.v_in_k = true, .shared_heads = true, .overlap = 4}},
  };
  return all;
}

memory_form const& form_named(std::string const& name) {
  auto const found = std::ranges::find(forms(), name, &named_form::name);
  REQUIRE(found != forms().end());
  return found->form;
}

/// A problem that can have the form: b = 2, hq = 4, hk = 2, n = 3, m = 5, d = 8, dv = 4, a mask and a bias.
owned_problem problem_for(memory_form const& form, element_type type = element_type::f32) {
  auto const value = [](std::int64_t seed) {
    return 0.125 * static_cast<double>((seed * 37 + seed / 8 * 11) % 23) - 1;
  };
  auto const rows = [&](std::int64_t last, std::int64_t first_seed) {
    auto tensor = owned_tensor::compact(type, {2, 2, 5, last});
    fill(tensor, [&](auto b, auto h, auto j, auto c) {
      std::int64_t const entry = form.shared_batch ? 0 : b, head = form.shared_heads ? 0 : h;
      std::int64_t const width = form.v_in_k ? 8 : last;
      return value(first_seed + 211 * entry + 101 * head + j * (width - form.overlap) + c);
    });
    return tensor;
  };
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {2, 4, 3, 8});
  fill(draft.q, [&](auto b, auto h, auto i, auto c) { return value(b * 401 + h * 97 + i * 8 + c); });
  draft.k = rows(8, 5);
  draft.v = rows(4, form.v_in_k ? 5 : 900);
  draft.mask = owned_tensor::compact(element_type::u8, {2, 4, 3, 5});
  fill(*draft.mask, [](auto b, auto h, auto i, auto j) { return (b + 2 * h + i + j) % 4 != 3 ? 1.0 : 0.0; });
  draft.bias = owned_tensor::compact(type, {2, 1, 3, 5});
  fill(*draft.bias, [&](auto b, auto, auto i, auto j) { return value(b * 31 + i * 7 + j); });
  return valid(std::move(draft));
}

struct answer {
  call_report report;
  owned_outputs outputs;
};

answer ask(isolated_kernel& kernel, owned_problem const& problem, memory_form const& form,
           placement where = placement::end) {
  answer got;
  auto report =
      kernel.run(problem, {.want_lse = true, .want_weights = true, .placement = where, .memory = form}, got.outputs);
  if (!report) FAIL(report.why().message());
  got.report = std::move(report).value();
  return got;
}

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

TEST_CASE("tensors far apart take address space and no memory or time", "[unit]") {
  auto kernel = opened("naive");
  memory_form const far{.far_batch = beyond_32_bits};
  auto const problem = problem_for(far);
  double least = 1;
  for (int n = 0; n < 5; ++n) {
    auto const start = std::chrono::steady_clock::now();
    auto const got = ask(kernel, problem, far);
    std::chrono::duration<double> const whole = std::chrono::steady_clock::now() - start;
    CHECK(got.report.outcome == call_outcome::succeeded);
    least = std::min(least, whole.count() - got.report.seconds);
  }
  CHECK(least < 0.1);
}

namespace {

/// Bytes that the memory of the calls of this process holds: of all files that isolated kernels share.
std::uint64_t held_bytes() {
  std::uint64_t bytes = 0;
  for (auto const& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code code;
    auto const target = fs::read_symlink(entry.path(), code);
    struct stat about{};
    if (!code && target.native().find("attest-call") != std::string::npos && ::stat(entry.path().c_str(), &about) == 0)
      bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  return bytes;
}

/// `queries` rows of 16 elements, one key.
owned_problem long_problem(std::int64_t queries, double softcap = 0) {
  problem_draft draft;
  draft.softcap = softcap;
  draft.q = owned_tensor::compact(element_type::f32, {queries, 16});
  draft.k = filled(element_type::f32, {1, 16});
  draft.v = filled(element_type::f32, {1, 1});
  return valid(std::move(draft));
}

}  // namespace

TEST_CASE("the memory of a large call is given back", "[unit]") {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  auto kernel = opened("naive");
  CHECK(run_once(kernel, long_problem(2'000'000, 30)).outcome == call_outcome::unsupported);  // at once
  CHECK(held_bytes() > 128 * mib);
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
  CHECK(held_bytes() < mib);
  auto const far = form_named("far rows");
  CHECK(ask(kernel, problem_for(far), far).report.outcome == call_outcome::succeeded);
  CHECK(held_bytes() < 4 * mib);
}

TEST_CASE("the limit on the kernel's memory does not count the tensors", "[unit]") {
  auto kernel = isolated_kernel::open(library("naive"), "attest_attention",
                                      {.process = {.resident_bytes = std::uint64_t{24} << 20}}, ATTEST_TEST_RUNNER);
  REQUIRE(kernel);
  auto const report = run_once(kernel.value(), long_problem(500'000));  // 34 MB of tensors
  INFO(report.sentence);
  CHECK(report.outcome == call_outcome::succeeded);
}

TEST_CASE("a form that the system cannot give is not asked, and says so", "[unit]") {
  auto const& far = form_named("far batch");
  auto limited = isolated_kernel::open(library("naive"), "attest_attention", {.address_bytes = std::uint64_t{1} << 30},
                                       ATTEST_TEST_RUNNER);
  REQUIRE(limited);
  auto refused = ask(limited.value(), problem_for(far), far).report;
  CHECK(refused.outcome == call_outcome::not_asked);
  CHECK(refused.sentence == "not asked: the call needs more than the 1 GiB of address space that it may have");
  CHECK(run_once(limited.value(), small_problem()).outcome == call_outcome::succeeded);

  rlimit before;  // which the kernel's process inherits
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  rlimit const few{std::uint64_t{8} << 30, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_AS, &few) == 0);
  auto kernel = opened("naive");
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  refused = ask(kernel, problem_for(far), far).report;
  CHECK(refused.outcome == call_outcome::not_asked);
  CHECK(refused.sentence == "not asked: the call needs more than the 2 GiB of address space that it may have");

  memory_form const many{.far_row = beyond_32_bits};  // a part of memory for each row
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {2000, 1});
  draft.k = draft.v = owned_tensor::compact(element_type::f32, {1, 1});
  refused = ask(kernel, valid(std::move(draft)), many).report;
  CHECK(refused.sentence == "not asked: the call has more than 1024 parts of memory");
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
        "V is the first columns of K; Q, K, V and O lie in the order [b, n, h, d]; 1 elements lie between rows of the "
        "outputs; 2147483712 elements lie between batch entries; 5 elements lie between heads");
}
