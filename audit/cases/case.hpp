// What the audit asks: problems with a name, a check they belong to and a bug class they look for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/recorded.hpp"
#include "audit/stored.hpp"

namespace attest::audit {

/// A group of cases that look for the same thing.
struct check {
  std::string_view name;
  std::string_view bug_class;  ///< of its findings, unless the judgement knows better; docs/known_failures.md
  std::string_view proves;     ///< what a pass says
  std::string_view cannot;     ///< what a pass does not say
};

/// All checks, in the order of the report.
std::vector<check> const& checks();
check const* find_check(std::string_view name);

/// One question to a kernel.
struct audit_case {
  std::string check;     ///< a name of checks()
  std::string name;      ///< unique within the check
  stored_problem asked;
  /// The same question again: the answer must have the same bits.
  std::optional<stored_problem> twin;
  std::string twin_says;       ///< what differs, for the finding: "K and V at masked keys hold NaN"
  recorded_answer recorded;    ///< an answer recorded elsewhere, judged beside the kernel's
  std::string recorded_by;     ///< who gave it
  bool mandatory = false;      ///< a certified kernel must answer it (contiguous, no mask, bias or softcap)

  std::string full_name() const { return check + "/" + name; }
};

/// What to generate.
struct case_options {
  problem::element_type type = problem::element_type::f32;
  std::uint64_t seed = 0;
  bool quick = false;  ///< a tenth of the work
};

/// Every generated case, in a fixed order. A case depends on the seed and its own name only, so that any one of them
/// can be asked alone.
std::vector<audit_case> generated_cases(case_options const& options);

/// The sentence encoder's tensors as cases, PyTorch's recorded answers with them.
problem::result<std::vector<audit_case>> real_data_cases();

}  // namespace attest::audit
