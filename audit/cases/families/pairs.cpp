// Options in pairs, since real kernels have separate code paths for combinations; and the points of stability curves.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {
namespace {

/// One option of a problem: `resize` changes the sizes, then random tensors are generated, then `apply` changes them.
struct pair_option {
  std::string_view name;
  void (*resize)(problem::sizes&);
  void (*apply)(problem_draft&, problem::sizes const&, random_stream&);
};

constexpr auto same_size = [](problem::sizes&) {};
constexpr auto nothing_more = [](problem_draft&, problem::sizes const&, random_stream&) {};

std::vector<pair_option> const& features() {
  static std::vector<pair_option> const all{
      {"causal", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream&) { p.band = {s.m - s.n, -1, 0}; }},
      {"window", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream&) { p.band = {s.m - s.n, 6, 0}; }},
      {"symmetric-window", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream&) { p.band = {s.m - s.n, 3, 3}; }},
      {"mask", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream& random) {
         add_mask(p, s.b, 1, s.n, s.m, [&](auto...) { return random.below(3) != 0; });
       }},
      {"padding", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream&) {
         add_mask(p, s.b, 1, 1, s.m, [](auto b, auto, auto, auto j) { return j < 11 + 7 * b; });
       }},
      {"head-mask", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream& random) {
         add_mask(p, 1, s.hq, 1, s.m, [&](auto, auto, auto, auto j) { return j == 0 || random.below(3) != 0; });
       }},
      {"query-mask", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream& random) {
         add_mask(p, 1, 1, s.n, s.m, [&](auto, auto, auto i, auto j) { return j == i || random.below(3) != 0; });
       }},
      {"alibi", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream&) {
         add_bias(p, 1, s.hq, 1, s.m, [&](auto, auto h, auto, auto j) {
           return std::ldexp(1.0, -static_cast<int>(h) - 1) * static_cast<double>(j - (s.m - 1));
         });
       }},
      {"bias", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream& random) {
         add_bias(p, 1, s.hq, s.n, s.m, [&](auto...) { return 2 * random.normal(); });
       }},
      {"minus-infinity-bias", same_size,
       [](problem_draft& p, problem::sizes const& s, random_stream& random) {
         add_bias(p, 1, 1, s.n, s.m, [&](auto...) { return random.below(3) ? random.normal() : -HUGE_VAL; });
       }},
      {"grouped", [](problem::sizes& s) { s.hq = 6, s.hk = 2; }, nothing_more},
      {"decode", [](problem::sizes& s) { s.n = 1, s.m = 67; }, nothing_more},
      {"scale", same_size, [](problem_draft& p, problem::sizes const&, random_stream&) { p.scale = 0.8125; }},
      {"softcap", same_size, [](problem_draft& p, problem::sizes const&, random_stream&) { p.softcap = 1.5; }},
  };
  return all;
}

/// The field of the problem that an option sets; options of one field cannot be combined.
std::string_view field_of(std::string_view option) {
  for (auto const& [ending, field] :
       {std::pair{"causal", "band"}, std::pair{"window", "band"}, std::pair{"mask", "mask"},
        std::pair{"padding", "mask"}, std::pair{"alibi", "bias"}, std::pair{"bias", "bias"}})
    if (option.ends_with(ending)) return field;
  return option;
}

/// Every pair in the sizes s. Single options have checks of their own, except decode, softcap and the options with
/// which the plain form of this check begins.
void add_pairs_of(case_list& to, std::string_view prefix, problem::sizes const& sizes) {
  for (auto first = features().begin(); first != features().end(); ++first)
    for (auto second = first; second != features().end(); ++second) {
      bool const alone = first == second;
      if (alone && first->name != "decode" && first->name != "softcap" && first->name != "symmetric-window") continue;
      if (!alone && field_of(first->name) == field_of(second->name)) continue;
      bool const decode = first->name == "decode" || second->name == "decode";
      if (decode && sizes.n == sizes.m) continue;
      std::string const name =
          alone ? fmt::format("{}{}", prefix, first->name) : fmt::format("{}{}+{}", prefix, first->name, second->name);
      auto random = to.random("pairs", name);
      problem::sizes s = sizes;
      first->resize(s), second->resize(s);
      problem_draft draft = gaussian(s, to.type(), random);
      first->apply(draft, s, random);
      if (!alone) second->apply(draft, s, random);
      audit_case& added = to.add("pairs", name, std::move(draft));
      constexpr std::int64_t most_rows = 64;
      if (sizes.n > most_rows) added.rows = sampled_queries(added.problem, most_rows / 2, random);
    }
}

}  // namespace

/// Pairs with n = m, which most kernels support, and with n ≠ m and dv ≠ d. Then beyond one tile: n far below m, and n
/// above m, where a sample of the rows is judged.
void add_pairs(case_list& to) {
  add_pairs_of(to, "square-", {2, 2, 2, 24, 24, 8, 8});
  add_pairs_of(to, "", {2, 2, 2, 9, 25, 8, 6});
  add_pairs_of(to, "few-", {1, 2, 2, 5, 320, 8, 8});
  add_pairs_of(to, "tall-", {1, 2, 2, 310, 300, 8, 8});
}

/// One problem for each point of the curves: the error in units of the bound against score range, number of keys, head
/// dimension and value offset.
void add_stability(case_list& to) {
  auto const point = [&](std::string_view axis, double place, std::string const& name, problem_draft draft) {
    audit_case& added = to.add("stability", name, std::move(draft));
    added.axis = axis, added.place = place;
  };
  bool const quick = to.options().quick;
  for (int e = -4; e <= 20; e += quick ? 8 : 4) {
    std::string const name = fmt::format("score-range-2^{}", e);
    auto random = to.random("stability", name);
    double const spread = std::ldexp(1.0, e);
    if (spread * 64 < to.limits().largest)
      point("score range", spread, name, gaussian({1, 1, 1, 48, 48, 16, 16}, to.type(), random, spread));
  }
  for (std::int64_t m = 1; m <= (quick ? 64 : 1024); m *= 4) {
    std::string const name = fmt::format("keys-{}", m);
    auto random = to.random("stability", name);
    point("keys", static_cast<double>(m), name, gaussian({1, 1, 1, 4, m, 16, 16}, to.type(), random));
  }
  for (std::int64_t d = 1; d <= (quick ? 64 : 256); d *= 4) {
    std::string const name = fmt::format("dimension-{}", d);
    auto random = to.random("stability", name);
    point("head dimension", static_cast<double>(d), name, gaussian({1, 1, 1, 4, 48, d, d}, to.type(), random));
  }
  for (int e = 0; e <= 12; e += quick ? 6 : 2) {
    std::string const name = fmt::format("value-offset-2^{}", e);
    auto random = to.random("stability", name);
    problem_draft draft = gaussian({1, 1, 1, 48, 48, 16, 16}, to.type(), random);
    fill(draft.v, [&](auto...) { return std::ldexp(1.0, e) + random.normal(); });
    point("value offset", std::ldexp(1.0, e), name, std::move(draft));
  }
}

}  // namespace attest::audit
