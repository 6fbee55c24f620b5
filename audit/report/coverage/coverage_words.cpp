#include "audit/report/coverage/coverage_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/cases/domain/size_word.hpp"
#include "audit/report/number_words.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

std::string of_words(met_count const& count) { return fmt::format("{} of {}", grouped(count.met), grouped(count.of)); }

std::string pairs_and_triples(combination_counts const& counts, std::string_view of) {
  return fmt::format("{} pairs and {} triples of {}", of_words(counts.pairs), of_words(counts.triples), of);
}

/// Why one name of --require-support is not supported; empty if it is supported.
std::string missing_one(coverage const& of, std::string const& name, call_domain const& domain) {
  if (auto const size = size_word::of(name)) {
    if (!size->within(domain)) return name + " is outside the domain";
    auto const at = std::ranges::find(of.sizes, name, &std::pair<std::string, reply_count>::first);
    if (at == of.sizes.end() || at->second.asked == 0) return name + " was not asked";
    return at->second.answered > 0 ? "" : name + " is refused";
  }
  if (name == "lse" || name == "weights") {
    reply_count const& output = name == "lse" ? of.lse : of.weights;
    if (output.asked == 0) return name + " was not asked";
    return output.refused() == 0 ? ""
                                 : fmt::format("{} was withheld from {} of {} calls", name, grouped(output.refused()),
                                               grouped(output.asked));
  }
  auto const row = std::ranges::find(feature_table(), name, &feature_row::name);
  if (row == feature_table().end()) return name + " is no feature";
  reply_count const& calls = of.support(row->id).any;
  return calls.answered > 0 ? "" : name + (calls.asked > 0 ? " is refused" : " was not asked");
}

}  // namespace

std::string covered_words(coverage const& of) {
  combinations const met = of.met();
  std::string words = fmt::format(
      "{} of {} answered; they had {}, {}, and {}", grouped(of.calls.answered),
      plural(of.calls.asked, "call", "was", "were"), pairs_and_triples(met.features, "features"),
      pairs_and_triples(met.shapes, "classes of sizes"), pairs_and_triples(met.mixed, "features and classes"));
  if (of.elements_existing > 0)
    words += fmt::format("; {} of {} output elements were judged", grouped(of.elements_judged),
                         grouped(of.elements_existing));
  return words;
}

std::string sampled_gradients_words(coverage const& of) {
  if (of.gradients_sampled == 0) return "";
  return fmt::format("{} of {} elements of gradients were judged: of {} a sample of rows and keys",
                     grouped(of.gradients_judged), grouped(of.gradients_existing),
                     counted(of.gradients_sampled, "call", "calls"));
}

std::optional<std::string> rarity_words(std::int64_t answered_draws) {
  if (answered_draws < 3) return std::nullopt;
  return fmt::format(
      "{0} numbered draws were answered and none is wrong; a defect that strikes a fraction p of such draws would have "
      "been met with 95 % for p ≥ 3/{0} (one draw in {1}), as the draws are independent and if it shows in a judged "
      "element when met",
      grouped(answered_draws), grouped(answered_draws / 3));
}

std::string refused_words(coverage const& of) {
  std::vector<std::string> parts;
  std::vector<std::string_view> alone;
  for (feature const one : of.refused_alone()) alone.push_back(row_of(one).name);
  if (!alone.empty()) parts.push_back(fmt::format("{}", fmt::join(alone, ", ")));
  for (auto const& [a, b] : of.refused_together())
    parts.push_back(fmt::format("{} + {} together", row_of(a).name, row_of(b).name));
  auto const withheld = [&](char const* name, reply_count const& output) {
    if (output.refused() > 0)
      parts.push_back(fmt::format("{} in {} of {} calls", name, grouped(output.refused()), grouped(output.asked)));
  };
  withheld("lse", of.lse), withheld("weights", of.weights);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<std::string_view> support_names() {
  std::vector<std::string_view> names;
  for (feature_row const& row : feature_table()) names.push_back(row.name);
  names.insert(names.end(), {"lse", "weights"});
  return names;
}

std::string missing_support(coverage const& of, std::span<std::string const> required, call_domain const& domain) {
  std::vector<std::string> missing;
  for (std::string const& name : required)
    if (std::string why = missing_one(of, name, domain); !why.empty()) missing.push_back(std::move(why));
  return missing.empty() ? "" : fmt::format("--require-support: {}", fmt::join(missing, ", "));
}

}  // namespace attest::audit
