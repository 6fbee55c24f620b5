// Optional inputs that a kernel refuses by an end of its own: a failed assert(), an exit, an exception about the call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// A kernel refuses a feature, or two together, by its own ends if the small case with it ends by what may be a refusal
/// (support_cases, may_be_refusal). It must answer the small plain case. Any number of threads may ask.
class own_refusals {
 public:
  own_refusals(problem::element_type type, std::uint64_t seed, call_domain domain, call_domain of_gradients)
      : type_(type), seed_(seed), domain_(std::move(domain)), of_gradients_(std::move(of_gradients)) {}

  /// Turns the result of a case into a refusal. Of all that is wrong, each must be a call that ended by what may be a
  /// refusal, with a feature that the kernel refuses so.
  /// Cost      if there are such calls, the small cases of their features, each once
  void take(audit_case const& of, kernel_session& kernel, case_result& result);

 private:
  enum class end : std::uint8_t { answered, perhaps_refused, other };

  /// "mask", "causal+softcap"; empty if no rule separates the call from the plain one.
  std::string refused_features(problem_draft const& call, kernel_session& kernel);
  end end_of(feature_set const& wanted, bool backward, kernel_session& kernel);

  problem::element_type type_;
  std::uint64_t seed_;
  call_domain domain_, of_gradients_;
  std::mutex mutex_;
  std::map<std::string, end> known_;  ///< by the name of the small case
};

}  // namespace attest::audit
