// A signal handler that records the address of a crash, then lets the process crash.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit::runner {

/// The data of the handler, set before each call.
struct crash_context {
  crash_note volatile* note = nullptr;
  std::uint64_t sequence = 0;
  std::byte const* range = nullptr;
};
inline crash_context crash{};

#if defined(__aarch64__) && defined(__linux__)
/// How the memory was touched, by the exception syndrome among the records of a signal's context.
/// Source    Linux, arch/arm64/include/uapi/asm/sigcontext.h; Arm Architecture Reference Manual, ESR_EL1: EC 0x24 and
///           0x25 are data aborts, and WnR is bit 6
inline crash_note::access_kind access_of(unsigned char const (&records)[4096]) noexcept {
  constexpr std::uint32_t syndrome = 0x45535201;
  struct {
    std::uint32_t magic, size;
  } head;
  for (std::size_t at = 0; at + sizeof head + sizeof(std::uint64_t) <= sizeof records; at += head.size) {
    std::memcpy(&head, records + at, sizeof head);
    if (head.magic == 0 || head.size < sizeof head) break;
    if (head.magic != syndrome) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, records + at + sizeof head, sizeof value);
    if ((value >> 26 & 0x3E) != 0x24) break;
    return (value >> 6 & 1) != 0 ? crash_note::writes : crash_note::reads;
  }
  return crash_note::unknown;
}
#endif

extern "C" inline void attest_write_crash_note(int signal, siginfo_t* about, void* machine) {
  // Threads may crash at the same time. The first writes, and ends the process for all.
  static constinit std::atomic_flag taken;
  while (taken.test_and_set()) pause();
  auto* const note = crash.note;
  note->sequence = crash.sequence;
  note->address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(about->si_addr) -
                                            reinterpret_cast<std::uintptr_t>(crash.range));
  note->access = crash_note::unknown;
#if defined(__aarch64__) && defined(__linux__)
  note->access = access_of(static_cast<ucontext_t const*>(machine)->uc_mcontext.__reserved);
#elif defined(__x86_64__) && defined(__linux__)
  // Bit 1 of the page-fault error code is set on a write.
  constexpr int error_register = 19;  // REG_ERR, which glibc names only under _GNU_SOURCE
  auto const* const context = static_cast<ucontext_t const*>(machine);
  note->access = (context->uc_mcontext.gregs[error_register] & 2) != 0 ? crash_note::writes : crash_note::reads;
#else
  static_cast<void>(machine);
#endif
  note->magic = crash_magic;
  // With the default action, the signal ends the process as without a handler, as soon as this handler returns.
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Installs the handler with a stack of its own, so that it also works after a stack overflow.
inline void watch_for_crashes(crash_note* note) noexcept {
  alignas(16) static std::byte stack[1 << 16];
  crash.note = note;
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_sigaction = attest_write_crash_note;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int const signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace attest::audit::runner
