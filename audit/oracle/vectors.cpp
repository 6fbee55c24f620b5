#include "audit/oracle/vectors.hpp"

#include <algorithm>
#include <numeric>

#include "audit/cases/random.hpp"
#include "audit/judge/element_value.hpp"
#include "audit/tensors/slice.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {
namespace {

using reference::value_kind;

constexpr double infinity = reference::infinity, not_a_number = std::numeric_limits<double>::quiet_NaN();

certified_value of_ball(reference::ball<128> const& truth, double rounded) {
  return {reference::lower(truth), reference::upper(truth), rounded};
}

template <class T>
bool certify_row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i, vector_case& into) {
  using lse_type = problem::lse_element<T>;
  reference::enclosed_row<128, T> row;
  reference::compiled::enclose_row(p, b, h, i, row);
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const truth = reference::compiled::output(p, row, c);
    if (truth.kind == value_kind::nan) {
      into.o.push_back({not_a_number, not_a_number, not_a_number});
    } else if (truth.kind != value_kind::finite) {
      into.o.push_back({-infinity, infinity, std::nullopt});
    } else {
      auto const rounded = reference::compiled::rounded_output<T>(p, row, c);
      if (!rounded) return false;
      into.o.push_back(of_ball(truth.value, as_double(*rounded)));
    }
  }
  switch (row.kind) {
    case reference::row_kind::empty: into.lse.push_back({-infinity, -infinity, -infinity}); return true;
    case reference::row_kind::nan: into.lse.push_back({not_a_number, not_a_number, not_a_number}); return true;
    case reference::row_kind::finite: break;
  }
  auto const rounded = reference::compiled::rounded_log_sum_exp<lse_type>(row);
  if (rounded) into.lse.push_back(of_ball(reference::compiled::log_sum_exp(row), as_double(*rounded)));
  return rounded.has_value();
}

std::vector<std::int64_t> first_of(std::int64_t size, std::int64_t most) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(size, most)));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

std::int64_t elements_of(owned_tensor const& t) { return static_cast<std::int64_t>(t.spanned_elements()); }

/// The most keys of a vector, and the most numbers in its tensors.
constexpr std::int64_t most_keys = 700, most_numbers = 140;
/// The most vectors of one check and element type.
constexpr std::size_t most_cases = 8;

/// A part of the problem that is small enough for a vector. It has all keys; the more keys, the fewer heads, queries
/// and columns. Returns nothing if no such part is small enough.
std::optional<owned_problem> small_part(owned_problem const& from) {
  problem::sizes const& s = from.size();
  if (s.m > most_keys) return std::nullopt;
  selection chosen = selection::all(s);
  chosen.b = first_of(s.b, 1), chosen.hk = first_of(s.hk, 2), chosen.n = first_of(s.n, 3);
  chosen.d = first_of(s.d, 4), chosen.dv = first_of(s.dv, 3);
  if (s.m > 8)
    chosen.hk = first_of(s.hk, 1), chosen.n = first_of(s.n, 2), chosen.d = first_of(s.d, 2),
    chosen.dv = first_of(s.dv, 1);
  if (s.m > 20) chosen.n = first_of(s.n, 1), chosen.d = first_of(s.d, 1), chosen.query_head = 0;
  std::int64_t const room = std::max(most_numbers, 5 * s.m);  // cases such as empty blocks need many keys
  auto part = sliced(from, chosen);
  if (!part) return std::nullopt;
  problem_draft const& draft = part->draft();
  std::int64_t numbers = elements_of(draft.q) + elements_of(draft.k) + elements_of(draft.v);
  // The format of the vectors cannot express it: a tensor of version 2, or a bias of a type of its own.
  if (!draft.is_of_version_1() || (draft.bias && draft.bias->type != draft.q.type)) return std::nullopt;
  draft.each_optional([&](auto const&, owned_tensor const& tensor) { numbers += elements_of(tensor); });
  return numbers <= room ? part : std::nullopt;
}

}  // namespace

std::optional<vector_case> certified(std::string name, std::vector<std::string> flags, owned_problem problem) {
  vector_case certified_case{std::move(name), std::move(flags), std::move(problem)};
  bool decided = true;
  std::visit(
      [&](auto const& p) {
        problem::sizes const& s = p.size();
        for (std::int64_t row = 0; row < s.b * s.hq * s.n && decided; ++row)
          decided = certify_row(p, row / s.n / s.hq, row / s.n % s.hq, row % s.n, certified_case);
      },
      certified_case.problem.instance());
  return decided ? std::optional(std::move(certified_case)) : std::nullopt;
}

std::vector<vector_file> certified_vectors() {
  using problem::element_type;
  constexpr std::uint64_t seed = 1;
  std::vector<vector_file> files;
  for (check const& entry : checks())
    files.push_back(
        {std::string(entry.name), {{std::string(token_of(entry.bug_class)), std::string(entry.proves)}}, {}});
  for (problem::element_row const& row : problem::floating_rows) {
    element_type const type = row.type;
    std::map<std::string, std::vector<audit_case>, std::less<>> by_check;
    for (audit_case& generated : generated_cases({.type = type, .seed = seed})) {
      // These cases ask for more than the numbers of one call.
      if (generated.callers > 0 || generated.memory != memory_form{}) continue;
      auto part = small_part(generated.problem);
      if (!part) continue;
      generated.problem = *std::move(part), generated.further.clear();
      by_check[generated.check].push_back(std::move(generated));
    }
    for (vector_file& file : files) {
      auto const& cases = by_check[file.check];
      // Evenly chosen from the cases of the check.
      std::size_t const taken = std::min(cases.size(), most_cases);
      for (std::size_t n = 0; n < taken; ++n) {
        audit_case const& chosen = cases[n * cases.size() / taken];
        auto certified_case = certified(std::string(problem::name_of(type)) + "/" + chosen.name,
                                        {file.flags.begin()->first}, chosen.problem);
        if (certified_case) file.cases.push_back(*std::move(certified_case));
      }
    }
  }
  std::erase_if(files, [](vector_file const& file) { return file.cases.empty(); });
  return files;
}

}  // namespace attest::audit
