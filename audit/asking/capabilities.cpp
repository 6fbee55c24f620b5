#include "audit/asking/capabilities.hpp"

#include <string>
#include <utility>
#include <vector>

#include "audit/cases/forms/support_cases.hpp"
#include "audit/cause/ignored_field.hpp"
#include "audit/judge/by_law.hpp"

namespace attest::audit {
namespace {

capability capability_of(isolated_kernel& kernel, audit_case const& asked, contract const& claim) {
  owned_outputs outputs;
  auto const did = kernel.run(asked.problem, {}, outputs);
  if (!did || !did.value().broken.empty()) return capability::no_answer;
  if (did.value().outcome == call_outcome::unsupported) return capability::refused;
  if (did.value().outcome != call_outcome::succeeded) return capability::no_answer;
  if (judge_by_law(asked.problem, outputs, claim, {}, thoroughness::verdict).failed == 0) return capability::supported;
  return ignored_field(asked, outputs, claim) ? capability::ignored : capability::wrong;
}

}  // namespace

problem::result<kernel_capabilities> capabilities_of(kernel_library const& library, contract const& claim,
                                                     isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library, limits);
  if (!kernel) return kernel.why();
  kernel_capabilities found;
  if (!library.is_program() && !library.is_process()) {
    std::vector<std::string> symbols;
    for (problem::operator_row const& row : problem::operators) symbols.emplace_back(row.symbol);
    symbols.emplace_back("attest_kernel_name");
    for (std::string const& symbol : symbols) {
      kernel_library other = library;
      other.symbol = symbol;
      if (isolated_kernel::open(other, limits)) found.exports.push_back(symbol);
    }
  }
  for (audit_case const& asked : support_cases(claim.type, 0))
    found.rows.push_back({asked.name, capability_of(kernel.value(), asked, claim)});
  return found;
}

}  // namespace attest::audit
