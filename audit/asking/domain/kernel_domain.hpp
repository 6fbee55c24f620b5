// What an audit knows of the domain of its kernel before it plans its cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/asking/domain/domain_call.hpp"
#include "audit/asking/options.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

struct kernel_domain {
  /// Of calls of attention; of backward passes if it has no others, or if --only asks them alone.
  call_domain domain{};
  call_domain of_gradients{};  ///< of backward passes
  domain_origin from = domain_origin::nobody;
  bool has_attention = true;  ///< false: the library has a backward pass alone
  bool cut_short = false;     ///< the search ended before its last call, so that the kernel may take more
  bool slow = false;          ///< cut short since its calls take so long
  /// The calls of the check "domain". Of the search the smallest that were answered wrongly, or that ended the process
  /// of the kernel; with strict_refusals also the calls that an error answered.
  std::vector<domain_call> again{};
  double seconds_a_call = 0;  ///< that it answers, by own_time, with the judgement of the answer; 0: it answered none
  std::vector<std::string> says{};  ///< sentences for the report
  bool refused_all = false;         ///< every call of the search was refused, and none ended otherwise
  std::string other_type{};  ///< then: the element type of a plain call that it answers, "bf16"; empty if there is none
  /// The session of the search with a kernel that another process serves: that process serves one session.
  std::optional<kernel_session> served{};
};

/// The declared domain, or the domain that asking the kernel shows. Everything, with the origin `nobody`, if the audit
/// asks no generated calls of attention. Ensures   an error if the kernel cannot be loaded
/// Cost      find_domain, at most a fifth of the budget
problem::result<kernel_domain> domain_of_kernel(audit_options const& options);

}  // namespace attest::audit
