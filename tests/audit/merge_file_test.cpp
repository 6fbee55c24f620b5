// Merges of partial results: their files, their problem, and the presets that judge them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "audit/cases/default_contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "fast/merge.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {
namespace {

using namespace audit;
using problem::element_type;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A file in memory, put together tensor by tensor from numbers.
struct file_builder {
  safetensors_file file{};
  std::deque<owned_tensor> owned{};

  file_builder& add(std::string const& name, element_type type, std::vector<std::int64_t> const& shape,
                    std::vector<double> const& numbers) {
    owned_tensor& made = owned.emplace_back(owned_tensor{type, {}, {}});
    made.bytes.resize(numbers.size() * problem::size_of(type));
    for (std::size_t at = 0; at < numbers.size(); ++at) store(made, at, numbers[at]);
    file.tensors[name] = {std::string(problem::row_of(type).dtype), shape, made.bytes};
    return *this;
  }
  std::string refusal() const {
    auto const read = problem_file_of(file);
    return read ? "accepted" : read.why().message();
  }
};

/// Two parts [1, 2, 3, 1] of numbers; the first is unread in row (1, 2).
constexpr double empty = -infinity;
std::vector<double> const o_parts{1, 2, 3, 4, 5, std::nan(""), 10, 20, 30, 40, 50, 60},
    lse_parts{0, 0, 0, 1, 0, empty, 0, 0, 0, 0, 1, 2};

file_builder two_parts(element_type type = element_type::f32) {
  element_type const lse = type == element_type::f64 ? type : element_type::f32;
  file_builder builder;
  builder.add("x.o_parts", type, {2, 1, 2, 3, 1}, o_parts).add("x.lse_parts", lse, {2, 1, 2, 3}, lse_parts);
  return builder;
}

double at(owned_tensor const& tensor, std::size_t n) { return load(tensor, n); }

}  // namespace

TEST_CASE("the parts of a merge are a problem of attention", "[unit]") {
  auto const builder = two_parts();
  auto const read = problem_file_of(builder.file);
  REQUIRE(read);
  owned_problem const& merge = read.value().problems.at(0).problem;
  CHECK(merge.size().hq == 6);
  CHECK(merge.size().m == 2);
  CHECK(merge.size().dv == 1);
  CHECK(merged_rows(merge) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(at(*merge.draft().bias, 2 * 5) == empty);
  CHECK(at(*merge.draft().bias, 2 * 5 + 1) == 2);
  REQUIRE(merge.draft().mask);
  CHECK(at(*merge.draft().mask, 2 * 5) == 0);
  CHECK(at(*merge.draft().mask, 2 * 5 + 1) == 1);
  CHECK(default_contract(merge).name == "merge-f32");
}

TEST_CASE("parts in one tensor each are the same merge, in any rank", "[unit]") {
  std::vector<double> const o0(o_parts.begin(), o_parts.begin() + 6), o1(o_parts.begin() + 6, o_parts.end()),
      l0(lse_parts.begin(), lse_parts.begin() + 6), l1(lse_parts.begin() + 6, lse_parts.end());
  file_builder builder;
  builder.add("x.o_part_0", element_type::f32, {2, 3, 1}, o0).add("x.o_part_1", element_type::f32, {2, 3, 1}, o1);
  builder.add("x.lse_part_0", element_type::f32, {2, 3}, l0).add("x.lse_part_1", element_type::f32, {2, 3}, l1);
  auto const apart = problem_file_of(builder.file);
  auto const block_file = two_parts();
  auto const block = problem_file_of(block_file.file);
  REQUIRE(apart);
  owned_problem const &one = apart.value().problems.at(0).problem, &other = block.value().problems.at(0).problem;
  CHECK(one.draft().v.bytes == other.draft().v.bytes);
  CHECK(one.draft().bias->bytes == other.draft().bias->bytes);
  CHECK(merged_rows(one) == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("an answer is judged, and a wrong one is refuted", "[unit]") {
  double const e = std::exp(1.0);
  std::vector<double> o{5.5, 11, 16.5, (4 * e + 40) / (e + 1), (5 + 50 * e) / (e + 1), 60},
      lse{std::log(2.0), std::log(2.0), std::log(2.0), std::log1p(e), std::log1p(e), 2};
  for (bool const wrong : {false, true}) {
    if (wrong) o[3] *= 1.0001;
    auto builder = two_parts();
    builder.add("x.o", element_type::f32, {1, 2, 3, 1}, o).add("x.lse", element_type::f32, {1, 2, 3}, lse);
    auto const read = problem_file_of(builder.file);
    REQUIRE(read);
    problem_file_entry const& entry = read.value().problems.at(0);
    REQUIRE(entry.unusable.empty());
    auto const found = judge(entry.problem.instance(), entry.outputs, default_contract(entry.problem));
    CHECK(found.failed == (wrong ? 1 : 0));
    CHECK(found.judged() == 12);
    // What is written reads back as the same merge with the same answer.
    auto const bytes = problem_file_bytes({&entry, 1});
    REQUIRE(bytes);
    auto const file = parse_safetensors(bytes.value());
    auto const again = problem_file_of(file.value());
    REQUIRE(again);
    problem_file_entry const& copy = again.value().problems.at(0);
    CHECK(copy.problem.draft().bias->bytes == entry.problem.draft().bias->bytes);
    CHECK(copy.problem.draft().merge == entry.problem.draft().merge);
    CHECK(same_bits(copy.outputs, entry.outputs));
  }
}

TEST_CASE("the answer may be narrower or wider than the parts where a contract says so", "[unit]") {
  std::vector<double> const o{5.5, 11, 16.5, 1, 1, 60};
  auto const claim_of = [&](element_type parts, element_type answer) {
    auto builder = two_parts(parts);
    builder.add("x.o", answer, {1, 2, 3, 1}, o);
    auto const read = problem_file_of(builder.file);
    if (!read) return read.why().message();
    CHECK(read.value().problems.at(0).outputs.o.has_value());
    auto const second = two_parts(parts);  // the same from a second file
    auto const joined = with_outputs(problem_file_of(second.file).value(), builder.file);
    CHECK(default_contract(joined.value().problems.at(0).problem).name ==
          default_contract(read.value().problems.at(0).problem).name);
    return default_contract(read.value().problems.at(0).problem).name;
  };
  using enum element_type;
  CHECK(claim_of(f32, f32) == "merge-f32");
  CHECK(claim_of(f64, f64) == "merge-f64");
  CHECK(claim_of(bf16, bf16) == "merge-bf16");
  CHECK(claim_of(f16, f16) == "merge-f16");
  CHECK(claim_of(bf16, f32) == "merge-f32");
  CHECK(claim_of(f16, f32) == "merge-f32");
  CHECK(claim_of(f32, bf16) == "merge-f32-bf16");
  CHECK(claim_of(f32, f16) == "merge-f32-f16");
  CHECK(claim_of(f64, f32) ==
        "x.o: is f32 and the parts are f64: there is no contract for that; the answer of a merge has the type of its "
        "parts, "
        "or one of the two is f32 and the other has 16 bits");
}

TEST_CASE("groups that are no merge are refused with the tensor", "[unit]") {
  using enum element_type;
  CHECK(two_parts().add("x.q", f32, {1}, {1}).refusal() ==
        "x.q: stands beside parts: a group is attention, with q, k and v, or a merge, with parts");
  CHECK(two_parts().add("x.bias", f32, {1}, {1}).refusal() ==
        "x.bias: stands beside parts: a merge takes the O and the LSE of its parts, and nothing else");
  CHECK(file_builder{}.add("o_parts", f32, {0, 2, 4}, {}).add("lse_parts", f32, {0, 2}, {}).refusal() ==
        "o_parts: merge needs at least one part");
  auto const part = [](file_builder& to, int n, std::int64_t dv, element_type type = f32) {
    to.add("o_part_" + std::to_string(n), type, {1, dv}, std::vector<double>(static_cast<std::size_t>(dv)));
    to.add("lse_part_" + std::to_string(n), f32, {1}, {0});
  };
  file_builder other;
  part(other, 0, 128), part(other, 1, 128), part(other, 2, 64);
  CHECK(other.refusal() == "o_part_2: part 2 has dv = 64, part 0 has 128");
  part(other, 2, 128, bf16);
  CHECK(other.refusal() == "o_part_2: dtype is BF16, part 0 has F32");
  other.file.tensors.erase("o_part_1");
  CHECK(other.refusal() == "o_part_1: is missing beside 'o_part_2'");
  CHECK(file_builder{}
            .add("o_parts", bf16, {1, 2, 4}, std::vector<double>(8))
            .add("lse_parts", bf16, {1, 2}, {0, 0})
            .refusal() == "lse_parts: dtype is BF16, expected F32 beside parts of BF16");
  CHECK(file_builder{}.add("o_parts", f32, {1, 2, 4}, std::vector<double>(8)).refusal() ==
        "lse_parts: is missing beside 'o_parts'");
  CHECK(file_builder{}
            .add("o_parts", f32, {1, 2, 4}, std::vector<double>(8))
            .add("lse_parts", f32, {1, 3}, {0, 0, 0})
            .refusal() == "lse_parts: shape is [1, 3], expected [1, 2]");
  CHECK(file_builder{}
            .add("o_parts", f32, {4, 4}, std::vector<double>(16))
            .add("lse_parts", f32, {4}, {0, 0, 0, 0})
            .refusal() == "o_parts: rank is 2, expected 3, 4 or 5: [S, b, hq, n, dv]");
  auto unusable = two_parts();
  unusable.add("x.o", f32, {6, 1}, {1, 2, 3, 4, 5, 6});
  auto const read = problem_file_of(unusable.file);
  REQUIRE(read);
  CHECK(read.value().problems.at(0).unusable.at(0).says == "shape is [6, 1], expected [1, 2, 3, 1]");
}

namespace {

/// The answer of fast::merge to a merge of parts of E.
template <class E>
owned_outputs merged_by_builtin(merge_parts const& parts) {
  using L = problem::lse_element<E>;
  std::int64_t const rows = parts.b * parts.hq * parts.n;
  struct described {
    E const* o;
    L const* lse;
    std::int64_t rows, dv;
  } const from{reinterpret_cast<E const*>(parts.o.data()), reinterpret_cast<L const*>(parts.lse.data()), rows,
               parts.dv};
  fast::merge_parts<E> const given{
      parts.parts, &from, [](void const* of, std::int64_t s) noexcept {
        auto const& all = *static_cast<described const*>(of);
        return fast::merge_part<E>{all.o + s * all.rows * all.dv, {0, all.dv, 0}, all.lse + s * all.rows, {0, 1, 0}};
      }};
  element_type const type = problem::type_of<E>;
  owned_outputs answer{owned_tensor::compact(type, {1, rows, 1, parts.dv}),
                       owned_tensor::compact(problem::row_of(type).lse, {1, rows, 1}),
                       {}};
  fast::merge_outputs<E, E> to;
  to.o = {answer.o->as<E>(), {1, rows, 1, parts.dv}, {rows * parts.dv, parts.dv, parts.dv}, true, {}};
  to.lse = {answer.lse->as<L>(), {1, rows, 1, 1}, {rows, 1, 1}, true, {}};
  fast::merge(given, to, {.threads = 1});
  return answer;
}

/// How the LSE of the parts lie: equal, 1e-7 apart, 88 and 95 apart, 1e4 below first, or normal with a spread.
double lse_of_part(int kind, std::int64_t s, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (kind) {
    case 0: return 3;
    case 1: return 3 + 1e-7 * static_cast<double>(s % 5);
    case 2: return s % 2 == 0 ? 0 : -88;
    case 3: return s % 2 == 0 ? -95 : 0;
    case 4: return s == 0 ? -1e4 : normal(random);
    case 5: return s % 3 == 1 ? empty : normal(random);
    default: return (kind == 6 ? 1 : 30) * normal(random);
  }
}

/// The numbers of a float32 merge of one row as kernels write it: rising or falling, online or with the maximum first,
/// in base e or 2, divided at the end or before the sum; each exp is up to 7u off, in drawn directions.
struct float_merge {
  bool falling, online, base_2, weights_first;

  float exp(float x, std::mt19937_64& random) const {
    float const unit = base_2 ? x * 1.44269504f : x;
    double const exact = base_2 ? std::exp2(static_cast<double>(unit)) : std::exp(static_cast<double>(x));
    double const push = x == 0 ? 0 : random() % 2 == 0 ? 0x7p-24 : -0x7p-24;
    return static_cast<float>(exact * (1 + push));
  }

  void row(std::vector<float> const& lse, std::vector<float> const& o, std::size_t dv, float* out, float& out_lse,
           std::mt19937_64& random) const {
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < lse.size(); ++s)
      if (lse[s] != -HUGE_VALF) order.push_back(s);
    std::fill_n(out, dv, 0.0F), out_lse = -HUGE_VALF;
    if (order.empty()) return;
    if (falling) std::ranges::reverse(order);
    float most = lse[order[0]], sum = 0;
    if (!online)
      for (std::size_t const s : order) most = std::max(most, lse[s]);
    std::vector<float> weights;
    for (std::size_t const s : order) {
      if (lse[s] > most) {
        float const down = exp(most - lse[s], random);
        sum *= down, most = lse[s];
        for (float& w : weights) w *= down;
        for (std::size_t c = 0; c < dv; ++c) out[c] *= down;
      }
      float const weight = exp(lse[s] - most, random);
      sum += weight, weights.push_back(weight);
      if (!weights_first)
        for (std::size_t c = 0; c < dv; ++c) out[c] += weight * o[s * dv + c];
    }
    for (std::size_t n = 0; weights_first && n < order.size(); ++n)
      for (std::size_t c = 0; c < dv; ++c) out[c] += weights[n] / sum * o[order[n] * dv + c];
    for (std::size_t c = 0; !weights_first && c < dv; ++c) out[c] *= 1 / sum;
    out_lse = most + std::log(sum);
  }
};

owned_outputs merged_by(float_merge const& kernel, merge_parts const& parts, std::mt19937_64& random) {
  std::int64_t const rows = parts.hq;
  auto const dv = static_cast<std::size_t>(parts.dv), count = static_cast<std::size_t>(parts.parts);
  owned_outputs answer{owned_tensor::compact(element_type::f32, {1, rows, 1, parts.dv}),
                       owned_tensor::compact(element_type::f32, {1, rows, 1}),
                       {}};
  std::vector<float> o(count * dv), lse(count);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    for (std::size_t s = 0; s < count; ++s) {
      std::size_t const at = s * static_cast<std::size_t>(rows) + row;
      std::memcpy(&lse[s], parts.lse.data() + at * sizeof(float), sizeof(float));
      std::memcpy(&o[s * dv], parts.o.data() + at * dv * sizeof(float), dv * sizeof(float));
    }
    kernel.row(lse, o, dv, answer.o->as<float>() + row * dv, answer.lse->as<float>()[row], random);
  }
  return answer;
}

/// No element of an answer is outside the bound of its preset, and every one is judged.
void check_answer(owned_problem const& merge, owned_outputs const& answer, std::string const& which) {
  auto const found = judge(merge.instance(), answer, default_contract(merge), {}, thoroughness::all);
  INFO(which << ": " << found.max_error_in_bounds << " bounds");
  CHECK(found.failed == 0);
  CHECK(found.not_judged() == 0);
  if (std::getenv("ATTEST_SHOW")) std::fprintf(stderr, "%s: %.3g\n", which.c_str(), found.max_error_in_bounds);
}

/// Judges the merges of so many rows of each form of parts.
template <class E>
void attack(std::int64_t parts, std::int64_t rows) {
  std::mt19937_64 random(static_cast<std::uint64_t>(parts) * 8 + sizeof(E));
  std::normal_distribution<double> normal;
  for (int kind = 0; kind < 8; ++kind) {
    element_type const type = problem::type_of<E>;
    merge_parts made{.parts = parts, .b = 1, .hq = rows, .n = 1, .dv = 3, .type = type};
    owned_tensor o{type, {}, {}}, lse{problem::row_of(type).lse, {}, {}};
    o.bytes.resize(static_cast<std::size_t>(parts * rows * made.dv) * problem::size_of(o.type));
    lse.bytes.resize(static_cast<std::size_t>(parts * rows) * problem::size_of(lse.type));
    for (std::int64_t s = 0; s < parts; ++s)
      for (std::int64_t row = 0; row < rows; ++row) {
        auto const at = static_cast<std::size_t>(s * rows + row);
        double const score = lse_of_part(kind, s, random);
        store(lse, at, score);
        bool const unread = score == empty;
        // Digits, one part alone, and numbers of any sign.
        store(o, 3 * at, unread ? std::nan("") : 1 + static_cast<double>(s % 7));
        store(o, 3 * at + 1, unread ? std::nan("") : s == row % parts ? 1 : 0);
        store(o, 3 * at + 2, unread ? std::nan("") : normal(random) * (row % 2 == 0 ? 1 : 1000));
      }
    made.o = o.bytes, made.lse = lse.bytes;
    std::string const which =
        std::string(problem::name_of(type)) + ", " + std::to_string(parts) + " parts, form " + std::to_string(kind);
    owned_problem const merge = owned_problem::of_valid(merge_draft(made, type));
    check_answer(merge, merged_by_builtin<E>(made), which + ", built-in");
    if constexpr (std::is_same_v<E, float>)
      for (unsigned way = 0; way < 16; ++way)
        check_answer(
            merge,
            merged_by({(way & 1) != 0, (way & 2) != 0, (way & 4) != 0, (way & 8) != 0 && (way & 2) == 0}, made, random),
            which + ", way " + std::to_string(way));
  }
}

}  // namespace

TEST_CASE("no honest merge is outside the bound of merges of its type", "[property]") {
  for (auto const& [parts, rows] : {std::pair{1, 40}, {2, 400}, {3, 400}, {64, 40}, {257, 12}, {4096, 2}}) {
    attack<float>(parts, rows);
    attack<double>(parts, rows);
    attack<problem::bf16>(parts, rows);
    attack<problem::f16>(parts, rows);
  }
}

}  // namespace attest::tests
