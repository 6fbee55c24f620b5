#include "audit/report/version.hpp"

namespace attest::audit {

char const* const version = ATTEST_VERSION;

}  // namespace attest::audit
