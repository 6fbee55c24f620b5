// The version of attest, as the reports name it.
#pragma once

namespace attest::audit {

/// The version that the top CMakeLists.txt gives the project.
extern char const* const version;

}  // namespace attest::audit
