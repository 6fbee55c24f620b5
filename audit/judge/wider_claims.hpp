// Presets that may hold for a kernel that is outside its claim: one cause of many failing cases, such as float32
// arithmetic under f64.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// The presets that are wider than a claim, except presets that a failing case has excluded. Their conventions are the
/// claim's. Several threads may ask at once.
class wider_claims {
 public:
  explicit wider_claims(contract const& claim);

  /// The presets under which nothing of the case is wrong, narrowest first. `wrong` is the worst violation by the
  /// claim.
  /// Cost      judging the row of `wrong` and, if that is right, the case, once for each preset that no case has
  ///           excluded
  std::vector<holding_preset> holding(audit_case const& kernel_case, case_outputs const& outputs, bool reproducible,
                                      violation const& wrong) const;
  /// Excludes the presets that are not in `inside`, the presets that hold for one failing case.
  void keep(std::vector<holding_preset> const& inside);

 private:
  struct preset {
    contract claim;
    std::atomic<bool> left = false;
  };
  std::deque<preset> presets_;
};

}  // namespace attest::audit
