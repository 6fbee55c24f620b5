// attest-runner PARENT_PID LIBRARY SYMBOL [NEED…]: runs one kernel for the process that started it
// (audit/isolation/isolated_kernel.hpp).
//
// It links the C library only: a kernel must bring the libraries that it needs, and no symbol of attest can stand in
// for one that is missing.
#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/isolation/runner/caged_process.hpp"
#include "audit/isolation/runner/calls.hpp"
#include "audit/isolation/runner/crash_handler.hpp"
#include "audit/isolation/runner/environment.hpp"
#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit::runner {
namespace {

template <class Message>
void send_message(Message const& message) noexcept {
  while (send(channel_descriptor, &message, sizeof message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) _exit(0);
}

/// The largest power of 2 up to 2^45 that this process has as one address range.
std::uint64_t largest_range() noexcept {
  for (std::uint64_t bytes = std::uint64_t{1} << 45; bytes > 0; bytes /= 2) {
    void* const range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    munmap(range, bytes);
    return bytes;
  }
  return 0;
}

/// Waits for the next call. Ends the process when the parent has closed its end of the channel.
void receive_message(call_message& message) noexcept {
  for (;;) {
    auto const count = recv(channel_descriptor, &message, sizeof message, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < static_cast<ssize_t>(bytes_with(0)) || message.magic != call_magic ||
        message.piece_count > most_pieces || message.caller >= most_together ||
        count != static_cast<ssize_t>(bytes_with(message.piece_count)))
      _exit(0);
    return;
  }
}

/// Loads the library, sends the greeting, and serves calls until the parent has ended.
[[noreturn]] void serve(char const* library, char const* symbol) noexcept {
  hello_message hello{};
  hello.magic = hello_magic;
  auto const greet = [&](greeting state, char const* text) {
    hello.state = state;
    if (text) std::strncpy(hello.text, text, sizeof hello.text - 1);
    send_message(hello);
    if (state != greeting::ready) _exit(0);
  };
  void* const note = mmap(nullptr, sizeof(crash_note), PROT_READ | PROT_WRITE, MAP_SHARED, memory_descriptor, 0);
  if (note == MAP_FAILED) greet(greeting::no_runner_memory, std::strerror(errno));
  watch_for_crashes(static_cast<crash_note*>(note));

  // A library built with -ffast-math may switch to flush-to-zero when it is loaded.
  std::fenv_t environment;
  std::fegetenv(&environment);
  auto const control = control_bits();
  void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) greet(greeting::not_loaded, dlerror());
  auto* const kernel = reinterpret_cast<kernel_function>(dlsym(loaded, symbol));
  if (!kernel) greet(greeting::no_symbol, nullptr);
  auto* const name = reinterpret_cast<char const* (*)()>(dlsym(loaded, "attest_kernel_name"));
  char const* const text = name ? name() : nullptr;
  hello.environment_changed = control_bits() != control;
  restore(environment);
  greet(greeting::ready, text);

  static call_message messages[most_together];
  static reply_message replies[most_together];
  for (;;) {
    std::uint32_t count = 0;
    do {
      if (count == most_together) _exit(0);
      receive_message(messages[count]);
    } while (messages[count++].following > 0);
    make_calls(messages, count, kernel, replies);
    for (std::uint32_t at = 0; at < count; ++at) send_message(replies[at]);
  }
}

}  // namespace
}  // namespace attest::audit::runner

// Built with the address sanitizer, this program looks for no leaks where a kernel ends it: for that it would have to
// be traced, which the filter refuses.
#ifdef __has_feature
#define ATTEST_RUNNER_HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ATTEST_RUNNER_HAS_ADDRESS_SANITIZER 1
#else
#define ATTEST_RUNNER_HAS_ADDRESS_SANITIZER 0
#endif
#if ATTEST_RUNNER_HAS_ADDRESS_SANITIZER
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }
#endif

int main(int count, char** arguments) {
  using namespace attest::audit::runner;
  if (count < 4) {
    static char const usage[] = "attest-runner is started by attest; it has no use of its own\n";
    return write(STDERR_FILENO, usage, sizeof usage - 1) < 0 ? 3 : 2;
  }
  kernel_needs const needs(arguments + 4, count - 4);
  caged_message caged{};
  caged.magic = caged_magic;
  caged.fault = enter_cage(std::strtol(arguments[1], nullptr, 10), arguments[2], needs, caged.faults);
  caged.address_bytes = largest_range();
  send_message(caged);
  if (caged.fault != 0) _exit(0);
  load_message load{};
  while (recv(channel_descriptor, &load, sizeof load, 0) < 0)
    if (errno != EINTR) _exit(0);
  if (load.magic != load_magic) _exit(0);
  serve(arguments[2], arguments[3]);
}
