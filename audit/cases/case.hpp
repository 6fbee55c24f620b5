// What the audit asks: problems with a name, a check they belong to and a bug class they look for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/bug_class.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// A group of cases that look for the same thing.
struct check {
  std::string_view name;
  audit::bug_class bug_class;  ///< of its findings, unless the judgement knows better; docs/known_failures.md
  std::string_view proves;     ///< what a pass says
  std::string_view cannot;     ///< what a pass does not say
};

/// All checks, in the order of the report.
std::vector<check> const& checks();
check const* find_check(std::string_view name);

/// How a further call of a case relates to its first.
enum class relation : std::uint8_t {
  before,          ///< asked first, so that something is left of it; its answer is not judged
  same_bits,       ///< its answer has the bits of the first call's
  same_rows,       ///< its rows have the bits of the first call's rows from (batch, head, query) `at` on
  part,            ///< some of the first call's keys; merged by their LSE, all parts answer the first call
  weight_columns,  ///< V is columns of the identity from key at[0] on, as the first call's is from key 0 on
};

/// What the first call's O shows beside the answer itself.
enum class reading : std::uint8_t {
  nothing,
  weights,     ///< V is the identity: O is the weights
  visibility,  ///< Q = 0 and V codes the keys (cases/probe.hpp): O tells which keys were read
};

/// A further call of a case.
struct further_call {
  relation is = relation::same_bits;
  owned_problem asked;
  std::string says{};                ///< for the finding: "K and V at masked keys hold nan"
  std::array<std::int64_t, 3> at{};  ///< where its rows are in the first call's; or its first key
  std::int32_t threads = 0;
  bool promised = true;  ///< false: only --reproducible requires it, else a difference is an observation
};

/// What the error is drawn against.
inline constexpr std::string_view curve_axes[]{"score range", "keys", "head dimension", "value offset"};

/// One question to a kernel: a problem, and further calls that must fit its answer.
struct audit_case {
  std::string check;  ///< a name of checks()
  std::string name;   ///< unique within the check
  owned_problem asked;
  std::vector<further_call> further{};
  reading reads = reading::nothing;
  owned_outputs recorded{};   ///< an answer recorded elsewhere, judged beside the kernel's
  std::string recorded_by{};  ///< who gave it
  bool mandatory = false;     ///< a certified kernel must answer it (contiguous, no mask, bias or softcap)
  std::int64_t number = 0;    ///< among all cases of the audit, counted from 1; 0 before it is chosen
  std::int64_t all = 0;       ///< how many there are in all shards together
  std::string axis{};         ///< of a stability curve: one of curve_axes; or empty
  double place = 0;           ///< on that axis

  std::string full_name() const { return check + "/" + name; }
  /// The problem of call 0, the first, or of further[at − 1].
  owned_problem const& call(std::size_t at) const { return at == 0 ? asked : further[at - 1].asked; }
  /// The same problem once more: the answer must have the same bits.
  void must_equal(owned_problem another, std::string says) {
    further.push_back({.is = relation::same_bits, .asked = std::move(another), .says = std::move(says)});
  }
};

/// What the calls of a case were answered: [0] is the first call's, [k] that of further[k − 1]; some may be missing.
using answers = std::vector<std::optional<owned_outputs>>;

/// Why the calls of a case do not fit each other, as a file may have them; nothing where they do.
std::optional<std::string> calls_fault(audit_case const& each);

/// What to generate.
struct case_options {
  problem::element_type type = problem::element_type::f32;
  std::uint64_t seed = 0;
  bool quick = false;  ///< a tenth of the work
};

/// Every generated case, in a fixed order. A case depends on the seed and its own name only, so that any one of them
/// can be asked alone.
std::vector<audit_case> generated_cases(case_options const& options);

}  // namespace attest::audit
