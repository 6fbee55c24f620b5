// Cases, the inputs of the audit: problems with a name, each in a check that looks for one bug class.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/bug_class.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/support/words.hpp"
#include "audit/tensors/memory_form.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// A group of cases that look for the same thing.
struct check {
  std::string_view name;
  audit::bug_class
      bug_class;            ///< of its findings, unless the judgement finds a more specific one; docs/known_failures.md
  std::string_view proves;  ///< what a pass shows
  std::string_view cannot;  ///< what a pass does not show
  /// Its inputs exceed a contract's promises on purpose, so that the bound says nothing about some of them.
  bool reaches_beyond = false;
};

/// All checks, in the order of the report.
std::vector<check> const& checks();
check const* find_check(std::string_view name);

/// How a further call of a case relates to its first.
enum class relation : std::uint8_t {
  warm_up,         ///< called before the first call, so that stale state from it could leak into later calls
  same_bits,       ///< its outputs have the bits of the first call's
  same_rows,       ///< its rows have the bits of the first call's rows that begin at (batch, head, query) `at`
  part,            ///< some of the first call's keys; all parts, merged by their LSE, give the first call's outputs
  weight_columns,  ///< V has columns of the identity, from key at[0] on; the V of the first call, from key 0 on
};

/// What the audit reads from the O of the first call, in addition to judging it.
enum class reading : std::uint8_t {
  nothing,
  weights,     ///< V is the identity: O is the weights
  visibility,  ///< Q = 0 and V encodes the keys (cases/probe.hpp): O shows which keys were read
  range,       ///< inputs of growing size: the size from which O is infinite or NaN is reported, not judged
};

/// A further call of a case. Its outputs are judged like the outputs of the first call.
struct further_call {
  relation is = relation::same_bits;
  owned_problem problem;
  std::string says{};                ///< a clause for the finding: "K and V at masked keys hold nan"
  std::array<std::int64_t, 3> at{};  ///< the position of its rows in the first call; or its first key
  std::int32_t threads = 0;
  bool promised = true;  ///< false: a difference is an observation, and a violation only under --reproducible
  memory_form memory{};  ///< how the tensors of this call lie in memory
};

/// The axes of stability curves, against which the error is drawn.
inline constexpr std::string_view curve_axes[]{"score range", "keys", "head dimension", "value offset"};

/// One input of the audit: a problem, and further calls whose outputs must fit the outputs of the first call.
struct audit_case {
  std::string check;  ///< a name of checks()
  std::string name;   ///< unique within the check
  owned_problem problem;
  std::vector<further_call> further{};
  reading reads = reading::nothing;
  std::vector<row_index> rows{};  ///< the rows that are judged, in increasing order; empty: all
  asked_outputs asks{};
  bool once = false;         ///< the first call is not repeated with its tensors elsewhere in memory
  std::int32_t threads = 0;  ///< of the first call
  /// After its calls one by one, all calls are repeated while the tensors of 16 such calls are in memory. So many
  /// threads of the caller make them at the same time. 0: they are not repeated.
  std::int32_t callers = 0;
  std::optional<call_form> form{};  ///< of the first call, if the case was made from one
  std::string scaled{};             ///< the cut of a production shape: "queries 4096 → 301"; else empty
  owned_outputs recorded{};         ///< outputs of another implementation, judged like the kernel's
  std::string recorded_by{};        ///< the name of that implementation
  std::int64_t number = 0;          ///< its number among all cases of the audit, from 1; 0 before cases are selected
  std::string axis{};               ///< one of curve_axes if it is a point of a stability curve, else empty
  double place = 0;                 ///< its coordinate on that axis
  bool beyond = false;              ///< as check::reaches_beyond, of this case
  memory_form memory{};             ///< how the tensors of the first call lie in memory

  std::string full_name() const { return check + "/" + name; }
  /// The problem of call 0, the first, or of further[at − 1].
  owned_problem const& call(std::size_t at) const { return at == 0 ? problem : further[at - 1].problem; }
  /// How often the kernel is called at least: once more elsewhere in memory, and twice by each of the callers.
  std::int64_t calls() const { return std::ssize(further) + (once ? 1 : 2) + 2 * callers; }
  std::int32_t threads_of(std::size_t at) const { return at == 0 ? threads : further[at - 1].threads; }
  memory_form const& memory_of(std::size_t at) const { return at == 0 ? memory : further[at - 1].memory; }
  /// The rows of a call that are judged; empty: all. A further call of other sizes is judged whole.
  std::span<row_index const> rows_of(std::size_t at) const {
    return call(at).size() == problem.size() ? std::span<row_index const>(rows) : std::span<row_index const>();
  }
  /// Adds the call again for each thread count. The bits may differ unless --reproducible.
  void also_with_threads(std::initializer_list<std::int32_t> counts) {
    for (std::int32_t const count : counts)
      further.push_back({.is = relation::same_bits,
                         .problem = problem,
                         .says = counted(count, "thread", "threads"),
                         .threads = count,
                         .promised = false});
  }
  /// Adds a further call whose outputs must have the bits of the first call's.
  void must_equal(owned_problem another, std::string says) {
    further.push_back({.is = relation::same_bits, .problem = std::move(another), .says = std::move(says)});
  }
};

/// The outputs of the calls of a case: [0] belongs to the first call, [k] to further[k − 1]; some may be absent.
using case_outputs = std::vector<std::optional<owned_outputs>>;

/// Why the calls of a case do not fit each other (a file may hold such calls). Returns nothing if they fit.
std::optional<std::string> calls_fault(audit_case const& checked);

/// Options of the generated cases.
struct case_options {
  problem::element_type type = problem::element_type::f32;
  std::uint64_t seed = 0;
  bool quick = false;                 ///< about a tenth of the work
  std::vector<std::string> checks{};  ///< the checks whose cases are wanted; empty: all

  bool wants(std::string_view check) const {
    return checks.empty() || std::ranges::find(checks, check) != checks.end();
  }
};

/// The checks whose cases are made from forms of calls, when they are asked (cases/support_cases.hpp, production.hpp,
/// drawn.hpp, domain/edges.hpp, asking/domain/domain_call.hpp).
inline constexpr std::array<std::string_view, 5> checks_of_forms{"support", "domain", "edges", "production", "drawn"};

/// The checks whose calls are made while the tensors of others are in memory. Recorded outputs cannot answer them.
inline constexpr std::array<std::string_view, 2> checks_of_groups{"concurrent-calls", "earlier-outputs"};

/// The checks whose calls need version 2 of the C interface. Test vectors cannot express them.
inline constexpr std::array<std::string_view, 6> checks_of_version_2{"sinks", "lengths",     "packed",
                                                                     "pages", "block-masks", "dropout"};

/// Every generated case of the wanted checks, except checks_of_forms, in a fixed order. A case depends only on the seed
/// and its own name, so that it can be run alone.
std::vector<audit_case> generated_cases(case_options const& options);

}  // namespace attest::audit
