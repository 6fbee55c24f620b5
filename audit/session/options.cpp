#include "audit/session/options.hpp"

#include <algorithm>

namespace attest::audit {

isolation_limits limits_of(audit_options const& options) {
  isolation_limits limits;
  if (options.quick) limits.seconds = 2, limits.loading_seconds = 5;
  if (options.budget) limits.loading_seconds = std::min(limits.loading_seconds, *options.budget);
  return limits;
}

}  // namespace attest::audit
