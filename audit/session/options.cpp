#include "audit/session/options.hpp"

#include <algorithm>

namespace attest::audit {

isolation_limits limits_of(audit_options const& options) {
  isolation_limits made;
  if (options.quick) made.seconds = 2, made.loading_seconds = 5;
  if (options.budget) made.loading_seconds = std::min(made.loading_seconds, *options.budget);
  return made;
}

}  // namespace attest::audit
