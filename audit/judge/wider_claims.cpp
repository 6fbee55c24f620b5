#include "audit/judge/wider_claims.hpp"

#include <algorithm>

#include "audit/cases/default_contract.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/judge/judge_case.hpp"

namespace attest::audit {

wider_claims::wider_claims(contract const& claim) {
  for (wider_preset const& wider : wider_presets(claim)) {
    preset& added = presets_.emplace_back();
    added.claim = *find_contract(wider.name);
    added.claim.conventions = claim.conventions;
  }
}

std::vector<holding_preset> wider_claims::holding(audit_case const& kernel_case, case_outputs const& outputs,
                                                  bool reproducible, violation const& wrong) const {
  bool const of_a_row = problem::output_named(wrong.output) && outputs[wrong.call];
  std::vector<holding_preset> inside;
  for (preset const& wider : presets_) {
    if (wider.left) continue;
    contract const claim = contract_under(wider.claim, kernel_case.problem);
    // A bound that leaves the wrong row open says nothing for it.
    if (of_a_row && !passes(kernel_case.call(wrong.call), *outputs[wrong.call], claim, wrong)) continue;
    case_result again;
    judge_case(kernel_case, outputs, {.claim = &claim, .reproducible = reproducible, .how = thoroughness::verdict},
               again);
    if (again.judged.failed == 0 && again.judged.undecided == 0 && again.judged.may_flow() == 0)
      inside.push_back({wider.claim.name, again.judged.max_error_in_bounds});
  }
  return inside;
}

void wider_claims::keep(std::vector<holding_preset> const& inside) {
  for (preset& wider : presets_)
    if (std::ranges::find(inside, wider.claim.name, &holding_preset::name) == inside.end()) wider.left = true;
}

}  // namespace attest::audit
