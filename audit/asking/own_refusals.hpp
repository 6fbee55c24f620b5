// Optional inputs and sizes that a kernel refuses by an end of its own: a failed assert(), an exit, an exception about
// the call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "audit/asking/domain/domain_call.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/judge/case_result.hpp"

namespace attest::audit {

/// A kernel refuses a feature, or two together, by its own ends if the small case with it ends by what may be a refusal
/// (support_cases, may_be_refusal); so it does lengths of one side. It must answer the small plain case. It refuses
/// sizes if plain calls of these sizes end so, whatever their numbers, and a size of 0 by each such end; a band beside
/// some sizes likewise. Any number of threads may ask.
class own_refusals {
 public:
  /// `of_sizes`: false if the domain was declared, so that the kernel takes its sizes.
  own_refusals(problem::element_type type, std::uint64_t seed, call_domain domain, call_domain of_gradients,
               bool of_sizes)
      : type_(type),
        seed_(seed),
        domain_(std::move(domain)),
        of_gradients_(std::move(of_gradients)),
        of_sizes_(of_sizes) {}

  /// Turns the result of a case into a refusal. Of all that is wrong, each must be a call that ended by what may be a
  /// refusal, with a feature that the kernel refuses so.
  /// Cost      if there are such calls, the small cases of their features, each once
  void take(audit_case const& of, kernel_session& kernel, case_result& result);

 private:
  enum class end : std::uint8_t { answered, perhaps_refused, other };

  /// "mask", "causal+softcap"; empty if no rule separates the call from the plain one.
  std::string refused_features(problem_draft const& call, kernel_session& kernel);
  /// "q_lengths" if the plain call with such lengths, of all rows, ends so: a feature has lengths of both sides, or of
  /// the needed side.
  std::string refused_lengths(problem_draft const& call, kernel_session& kernel);
  /// "b=1 hq=48 hk=2 n=1 m=40 d=16 dv=16", "kv_heads=0", with " diagonal=34 left=0 right=0"; empty if a plain call of
  /// these sizes and this band is answered.
  std::string refused_sizes(owned_problem const& call, kernel_session& kernel);
  end end_of(domain_call const& plain, std::uint64_t seed, kernel_session& kernel);
  std::optional<audit_case> small_case(feature_set const& wanted, bool backward) const;
  end end_of(audit_case&& small, bool backward, kernel_session& kernel);
  end end_of(feature_set const& wanted, bool backward, kernel_session& kernel);
  /// Asked once under a name.
  end end_of(audit_case const& small, std::string const& name, kernel_session& kernel);
  std::optional<end> known(std::string const& name);

  problem::element_type type_;
  std::uint64_t seed_;
  call_domain domain_, of_gradients_;
  bool of_sizes_;
  std::mutex mutex_;
  std::map<std::string, end> known_;  ///< by the name of the small or plain case, and its seed
};

}  // namespace attest::audit
