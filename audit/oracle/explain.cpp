#include "audit/oracle/explain.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "audit/cases/default_contract.hpp"
#include "audit/oracle/explained_gradient.hpp"
#include "audit/oracle/explained_row.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

}  // namespace

problem::result<std::string> run_explain(explain_options const& options) {
  std::vector<std::string> notes;
  auto const file = read_in_words(options.inputs, options.words, notes);
  if (!file) return file.why();
  auto recorded = problem_file_of(file.value(), options.flags);
  if (!recorded) return recorded.why();
  recorded.value().notes.insert(recorded.value().notes.end(), notes.begin(), notes.end());
  auto& problems = recorded.value().problems;
  std::vector<std::string> prefixes;
  for (problem_file_entry const& entry : problems) prefixes.push_back(entry.prefix);
  auto const at =
      options.prefix ? std::ranges::find(problems, *options.prefix, &problem_file_entry::prefix) : problems.begin();
  if (at == problems.end())
    return error{error_code::bad_value, "--problem",
                 fmt::format("the file has no problem '{}'{}", printable(*options.prefix),
                             did_you_mean(*options.prefix, prefixes))};
  if (options.claim && options.claim->type != at->problem.type())
    return error{error_code::bad_type, "--contract",
                 fmt::format("{} is about {}, the file holds {}", options.claim->name,
                             problem::name_of(options.claim->type), problem::name_of(at->problem.type()))};
  if (options.claim)
    if (auto why = why_not_under(*options.claim, at->problem))
      return error{error_code::bad_value, "--contract", *std::move(why)};
  contract const claim = contract_of(options.claim, at->problem);
  at->problem = under(claim, at->problem);
  std::string text;
  for (std::string const& note : recorded.value().notes) text += "note: " + note + '\n';
  for (std::string const& sentence : sentences_of_ignored(recorded.value())) text += "note: " + sentence + '\n';
  conventions not_followed = claim.conventions;
  not_followed.lse_base = problem::log_base::e;  // the code below has the LSE in the base of the contract
  for (std::string const& convention : relaxed(not_followed))
    text += fmt::format("note: the contract {} says {}; what follows is the row of docs/semantics.md\n", claim.name,
                        convention);
  for (unusable_output const& unusable : at->unusable)
    text += fmt::format("note: {} is left out: {}\n", printable(at->name_of(unusable.role)), unusable.says);
  if (problems.size() > 1 && !options.prefix)
    text += fmt::format("the file has {} problems; --problem {} chooses another\n", problems.size(),
                        printable(problems.back().prefix));
  if (!options.gradient.empty()) {
    auto const kind = problem::output_named(options.gradient);
    if (!kind || !problem::is_gradient(*kind))
      return error{error_code::bad_value, "--gradient",
                   fmt::format("'{}' is none of dq, dk, dv, dbias and dsink", printable(options.gradient))};
    if (auto why = gradient_row_fault(*at, *kind, options.row)) return *std::move(why);
    return text + explained_gradient(*at, claim, *kind, options.row);
  }
  return std::visit(
      [&](auto const& p) -> problem::result<std::string> {
        problem::sizes const& s = p.size();
        auto const& merge = at->problem.draft().merge;
        std::array<std::int64_t, 3> most{s.b, s.hq, s.n};
        if (merge) most = {s.b, merge->heads, merge->queries};
        char const* const names[3]{"batches", "heads", "queries"};
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (options.row[axis] < 0 || options.row[axis] >= most[axis])
            return error{
                error_code::bad_value, "--row",
                fmt::format("asks for number {} of {} {}, counted from 0", options.row[axis], most[axis], names[axis])};
        if (!merge && options.row[2] >= p.queries(options.row[0]))
          return error{error_code::bad_value, "--row",
                       fmt::format("asks for query {}, and entry {} has {} of them", options.row[2], options.row[0],
                                   p.queries(options.row[0]))};
        auto const row = merge ? merged_row(*merge, options.row) : options.row;
        return text + explained_row(*at, claim, row);
      },
      at->problem.instance());
}

}  // namespace attest::audit
