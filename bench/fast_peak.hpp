// The machine's own limits, measured in the kernel's process: multiply-adds in registers, and reading memory.
#pragma once

#include <cstddef>

namespace attest::bench {

/// Seconds that this thread has run (`threads` = 1), so that what else runs on the machine is not counted; else seconds
/// on the clock.
double seconds_now(int threads);

/// Floating-point operations a second of register-only multiply-adds on `threads` threads at once, over about
/// `seconds`. The vectors belong to the kernel's own instruction set.
double multiply_add_rate_f32(int threads, double seconds);
double multiply_add_rate_f64(int threads, double seconds);

/// Bytes a second that `threads` threads read from `data`, each its own part, in one pass.
double read_rate(float const* data, std::size_t count, int threads);

}  // namespace attest::bench
