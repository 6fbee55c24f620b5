// No filter, and no libseccomp: fuzz targets load no kernel.
#include "audit/isolation/system_call_filter.hpp"

namespace attest::audit {

std::vector<std::uint64_t> const& system_call_filter(kernel_needs const&) {
  static std::vector<std::uint64_t> const none;
  return none;
}

}  // namespace attest::audit
