// attest-runner PARENT_PID LIBRARY SYMBOL [NEED…]: runs one kernel for the process that started it
// (audit/isolation/isolated_kernel.hpp). With an empty SYMBOL, LIBRARY is a program that serves a kernel by itself
// (attest/serve.h): this process becomes it, in the same cage.
//
// It links the C library only: a kernel must bring the libraries that it needs, and no symbol of attest can stand in
// for a missing one.
#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/isolation/runner/answering.hpp"
#include "audit/isolation/runner/caged_process.hpp"
#include "audit/isolation/runner/crash_handler.hpp"
#include "audit/isolation/runner/environment.hpp"
#include "audit/isolation/runner/needs.hpp"
#include "audit/isolation/runner/privileges.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "problem/operators.hpp"

namespace attest::audit::runner {
namespace {

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

/// Becomes the program, or reports why it cannot.
[[noreturn]] void become(char* program, kernel_needs const& needs) noexcept {
  constexpr int most = 256;
  char* arguments[most + 2] = {program};
  for (int n = 0, count = 1; n < needs.count && count <= most; ++n)
    if (char* const argument = needs.argument(n)) arguments[count++] = argument;
  keep_capability();
  execv(program, arguments);
  hello_message hello{};
  hello.magic = hello_magic;
  hello.state = greeting::not_loaded;
  std::strncpy(hello.text, std::strerror(errno), sizeof hello.text - 1);
  send_message(channel_descriptor, hello);
  _exit(0);
}

/// The name of a function beside the kernel's: attest_merge beside attest_attention, and SYMBOL_merge beside SYMBOL.
struct symbol_beside {
  symbol_beside(char const* symbol, problem::operator_row const& of) noexcept {
    bool const usual = std::strcmp(symbol, problem::attention.symbol) == 0;
    if (usual) std::strncpy(text, of.symbol, sizeof text - 1);
    else std::snprintf(text, sizeof text, "%s_%.*s", symbol, static_cast<int>(of.name.size()), of.name.data());
  }
  char text[256]{};
};

attest_status unsupported(attest_call const*) noexcept {
  if (saying_for) std::strncpy(saying_for->text, no_attention_said, sizeof saying_for->text);
  return ATTEST_UNSUPPORTED;
}

/// Loads the library, sends the greeting, and serves calls until the parent has ended.
[[noreturn]] void serve(char const* library, char const* symbol) noexcept {
  hello_message hello{};
  hello.magic = hello_magic;
  auto const greet = [&](greeting state, char const* text) {
    hello.state = state;
    if (text) std::strncpy(hello.text, text, sizeof hello.text - 1);
    if (!send_message(channel_descriptor, hello) || state != greeting::ready) _exit(0);
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
  auto* kernel = reinterpret_cast<kernel_function>(dlsym(loaded, symbol));
  auto* const backward =
      reinterpret_cast<kernel_function>(dlsym(loaded, symbol_beside(symbol, problem::backward).text));
  if (!kernel && backward) kernel = unsupported;  // a backward pass by itself
  if (!kernel) greet(greeting::no_symbol, nullptr);
  auto* const name = reinterpret_cast<char const* (*)()>(dlsym(loaded, "attest_kernel_name"));
  char const* const text = name ? name() : nullptr;
  hello.environment_changed = control_bits() != control;
  restore(environment);
  greet(greeting::ready, text);

  static answering requests;
  requests.merges_with(reinterpret_cast<merge_function>(dlsym(loaded, symbol_beside(symbol, problem::merge).text)));
  auto* const alone = reinterpret_cast<int (*)()>(dlsym(loaded, "attest_backward_is_alone"));
  requests.differentiates_with(backward, alone != nullptr && alone() != 0);
  while (requests.answer(channel_descriptor, memory_descriptor, kernel)) continue;
  _exit(0);
}

}  // namespace
}  // namespace attest::audit::runner

// Built with the address sanitizer, this program does not look for leaks when a kernel ends it: for that it would have
// to be traced, which the filter refuses.
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
  if (!send_message(channel_descriptor, caged) || caged.fault != 0) _exit(0);
  load_message load{};
  while (recv(channel_descriptor, &load, sizeof load, 0) < 0)
    if (errno != EINTR) _exit(0);
  if (load.magic != load_magic) _exit(0);
  if (*arguments[3] == 0) become(arguments[2], needs);
  serve(arguments[2], arguments[3]);
}
