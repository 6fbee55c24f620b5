// The program without main(), for main.cpp and fuzz/targets/cli.cpp.
#pragma once

namespace attest::audit {

/// Exit status of bad usage and unreadable input.
inline constexpr int usage = 2;

/// Reads the command line and runs its command. Exceptions of the command pass through.
/// Ensures   the exit status: 0 certified, 1 refuted, 2 bad usage or unreadable input, 3 undecided
int run(int argc, char** argv);

}  // namespace attest::audit
