// The program `attest`.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

#include "audit/program/run.hpp"
#include "audit/program/terminal.hpp"

namespace {

/// Prints the meaning of the exception that is being handled.
void say_exception() noexcept {
  constexpr char no_thread[] =
      "attest: the system does not start another thread for this process (ulimit -u, ulimit -v)\n";
  try {
    throw;
  } catch (std::bad_alloc const&) {
    std::fputs("attest: there is not enough memory for this, or this process may not have it (ulimit -v)\n", stderr);
  } catch (std::system_error const& e) {
    if (e.code() == std::errc::resource_unavailable_try_again) std::fputs(no_thread, stderr);
    else std::fprintf(stderr, "attest: internal error: %s\n", e.what());
  } catch (std::exception const& e) {
    // oneTBB has no type of its own for this.
    if (std::string_view(e.what()).starts_with("pthread_create")) std::fputs(no_thread, stderr);
    else std::fprintf(stderr, "attest: internal error: %s\n", e.what());
  } catch (...) { std::fputs("attest: internal error: an unknown exception\n", stderr); }
}

/// For exceptions that no caller can catch: exceptions of worker threads.
[[noreturn]] void end_with_a_sentence() noexcept {
  if (!std::current_exception()) std::abort();
  say_exception();
  ::_exit(attest::audit::usage);
}

/// Whole audits need between 128 and 192 KiB, and a process that has no more stack ends without a word.
bool has_stack() noexcept {
  constexpr rlim_t least = rlim_t{1} << 20;
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least) return true;
  std::fprintf(stderr, "attest: the stack may have %llu KiB, expected at least %llu (ulimit -s)\n",
               static_cast<unsigned long long>(stack.rlim_cur >> 10), static_cast<unsigned long long>(least >> 10));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  attest::audit::prepare_streams();
  std::set_terminate(end_with_a_sentence);
  if (!has_stack()) return attest::audit::usage;
  try {
    return attest::audit::run(argc, argv);
  } catch (...) {
    say_exception();
    return attest::audit::usage;
  }
}
