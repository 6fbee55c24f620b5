// The check "merge": LSE equal, nearly equal and far apart, parts that saw no key, and the numbers of parts at which
// known kernels stop. docs/semantics.md states the rules.
#include "audit/cases/families/merges.hpp"

#include <cmath>
#include <utility>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr double empty = -HUGE_VAL;

/// The sizes of a merge, and O of parts whose LSE is −∞.
struct merge_sizes {
  std::int64_t parts = 2, b = 2, hq = 2, n = 3, dv = 5;
  double unread = std::nan("");
};

class merge_list {
 public:
  explicit merge_list(case_options const& options) : type_(options.type), list_(options) {}

  /// A merge with the LSE lse(random, s, row). The columns of O: digits, one part, the last part, and normal numbers.
  /// If the LSE is −∞, O is s.unread.
  template <class F>
  audit_case& add(std::string const& name, merge_sizes const& s, F&& lse) {
    return add_with(name, s, std::forward<F>(lse),
                    [&](random_stream& random, std::int64_t part, std::int64_t row, std::int64_t c) {
                      if (c == 0) return 1 + static_cast<double>(part % 7);
                      if (c == 1) return part == row % s.parts ? 1.0 : 0.0;
                      if (c == 2) return part == s.parts - 1 ? 1.0 : 0.0;
                      return random.normal();
                    });
  }

  template <class F, class G>
  audit_case& add_with(std::string const& name, merge_sizes const& s, F&& lse, G&& o) {
    auto random = list_.random(check_of_merges, name);
    std::int64_t const rows = s.b * s.hq * s.n;
    merge_parts parts{.parts = s.parts, .b = s.b, .hq = s.hq, .n = s.n, .dv = s.dv, .type = type_};
    owned_tensor of_o = owned_tensor::compact(type_, {s.parts, rows, s.dv}),
                 of_lse = owned_tensor::compact(problem::row_of(type_).lse, {s.parts, rows});
    for (std::int64_t part = 0; part < s.parts; ++part)
      for (std::int64_t row = 0; row < rows; ++row) {
        double const score = lse(random, part, row);
        auto const at = static_cast<std::size_t>(part * rows + row);
        store(of_lse, at, score);
        for (std::int64_t c = 0; c < s.dv; ++c)
          store(of_o, at * static_cast<std::size_t>(s.dv) + static_cast<std::size_t>(c),
                score == empty ? s.unread : o(random, part, row, c));
      }
    parts.o = std::move(of_o.bytes), parts.lse = std::move(of_lse.bytes);
    audit_case& made = list_.add(check_of_merges, name, merge_draft(std::move(parts), type_));
    made.asks.weights = false;
    return made;
  }

  std::vector<audit_case> take() { return list_.take(); }

 private:
  problem::element_type type_;
  case_list list_;
};

void add_numbers_of_parts(merge_list& to) {
  for (std::int64_t const parts : {1, 2, 3, 64, 257, 4096}) {
    merge_sizes const s = parts > 64 ? merge_sizes{parts, 1, 1, 2, 4} : merge_sizes{.parts = parts};
    to.add(fmt::format("equal-s{}", parts), s, [](auto&, auto, auto) { return 3.0; });
    to.add(fmt::format("normal-s{}", parts), s, [](auto& random, auto, auto) { return 3 * random.normal(); });
  }
}

void add_distances(merge_list& to) {
  auto const alternating = [&](char const* name, std::int64_t parts, double even, double odd) {
    to.add(fmt::format("{}-s{}", name, parts), {.parts = parts},
           [=](auto&, auto s, auto) { return s % 2 == 0 ? even : odd; });
  };
  for (std::int64_t const parts : {2, 3, 8}) {
    to.add(fmt::format("1e-7-apart-s{}", parts), {.parts = parts},
           [](auto&, auto s, auto) { return 1 + 1e-7 * static_cast<double>(s); });
    alternating("88-below-first", parts, -88, 0), alternating("88-below-last", parts, 0, -88);
    alternating("95-below-first", parts, -95, 0), alternating("95-below-last", parts, 0, -95);
    alternating("high", parts, 200, 199), alternating("low", parts, -300, -301);
    to.add(fmt::format("1e4-below-first-s{}", parts), {.parts = parts},
           [](auto& random, auto s, auto) { return s == 0 ? -1e4 : random.normal(); });
  }
}

/// All LSEs of a row share an offset: a weight is e^(LSE − largest LSE), however far both lie from 0.
void add_offsets(merge_list& to) {
  for (double const offset : {1e4, 1e10, 1e30})
    for (double const sign : {1.0, -1.0})
      to.add(fmt::format("offset{:g}", sign * offset), {.parts = 3}, [=](auto&, auto s, auto row) {
          return sign * offset * (1 + 1e-3 * static_cast<double>(row)) + (offset < 1e6 ? static_cast<double>(s) : 0.0);
        }).beyond = offset > 1e6;  // further than the hypotheses of some forms of merges
}

/// Two of them with numbers in O, for kernels that may read it if it is finite.
void add_unread_parts(merge_list& to) {
  for (std::int64_t const parts : {1, 2, 5})
    to.add(fmt::format("empty-all-s{}", parts), {.parts = parts, .unread = parts == 5 ? 7 : std::nan("")},
           [](auto&, auto, auto) { return empty; });
  to.add("empty-first", {.parts = 3}, [](auto& random, auto s, auto) { return s == 0 ? empty : random.normal(); });
  to.add("empty-last", {.parts = 3}, [](auto& random, auto s, auto) { return s == 2 ? empty : random.normal(); });
  to.add("empty-some", {.parts = 9, .unread = 1000},
         [](auto& random, auto s, auto row) { return (s + row) % 3 != 0 ? empty : random.normal(); });
  to.add("empty-but-one", {.parts = 12},
         [](auto& random, auto s, auto row) { return s != row ? empty : 5 + random.normal(); });
}

void add_wrong_numbers(merge_list& to) {
  auto const finite = [](random_stream& random, auto, auto) { return random.normal(); };
  for (auto const& [name, value] : {std::pair{"lse-nan", std::nan("")}, {"lse-inf", HUGE_VAL}})
    to.add(name, {.parts = 3}, [special = value](auto& random, auto s, auto row) {
      return s == 1 && row % 4 == 1 ? special : random.normal();
    });
  to.add_with("o-nan", {.parts = 3}, finite, [](random_stream& random, auto s, auto row, auto c) {
    return s == 1 && row % 4 == 1 && c == 2 ? std::nan("") : random.normal();
  });
}

/// The odd parts have the same numbers in every row, so that they are asked with stride 0
/// (audit/isolation/runner/merge_call.hpp).
void add_strides(merge_list& to) {
  for (std::int64_t const parts : {2, 5})
    to.add_with(
        fmt::format("own-strides-s{}", parts), {.parts = parts, .n = 4},
        [](auto& random, auto s, auto) { return s % 2 == 0 ? random.normal() : 0.25 * static_cast<double>(s); },
        [](random_stream& random, auto s, auto, auto c) {
          return s % 2 == 0 ? random.normal() : static_cast<double>(s + 2 * c);
        });
}

}  // namespace

std::vector<audit_case> merge_cases(case_options const& options) {
  if (!options.wants(check_of_merges)) return {};
  merge_list list(options);
  add_numbers_of_parts(list);
  add_distances(list);
  add_offsets(list);
  add_unread_parts(list);
  add_wrong_numbers(list);
  add_strides(list);
  return list.take();
}

}  // namespace attest::audit
