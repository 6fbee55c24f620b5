// attest-runner PARENT_PID LIBRARY SYMBOL: runs one kernel for the process that started it
// (audit/isolation/isolated_kernel.hpp).
//
// It links the C library only: a kernel must bring the libraries that it needs, and no symbol of attest can stand in
// for one that is missing.
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <attest/kernel.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/isolation/runner/crash_handler.hpp"
#include "audit/isolation/runner/environment.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "problem/call_parameters.hpp"

namespace attest::audit::runner {
namespace {

using kernel_function = attest_status (*)(attest_call const*);

/// This process is killed when its parent's thread ends, and leaves no core file.
void tie_to_parent(long parent) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != static_cast<pid_t>(parent)) _exit(0);
  // core(5): a limit of 1 byte also stops core dumps that are piped to a program, 0 does not.
  rlimit const no_core{1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
}

template <class Message>
void send_message(Message const& message) noexcept {
  while (send(channel_descriptor, &message, sizeof message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) _exit(0);
}

/// Waits for the next call. Ends the process when the parent has closed its end of the channel.
void receive_message(call_message& message) noexcept {
  for (;;) {
    auto const count = recv(channel_descriptor, &message, sizeof message, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < static_cast<ssize_t>(bytes_with(0)) || message.magic != call_magic ||
        message.piece_count > most_pieces || count != static_cast<ssize_t>(bytes_with(message.piece_count)))
      _exit(0);
    return;
  }
}

double now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// All that is passed to a kernel, in one object, so that one comparison shows whether the kernel wrote to it.
struct descriptors {
  DLTensor tensors[slot_count];
  std::int64_t shape[slot_count][4], strides[slot_count][4];
  attest_call call;
};

/// Maps the tensors into `range`: inputs read-only, all that is not of a tensor inaccessible.
bool map_tensors(call_message const& message, std::byte* range) noexcept {
  for (std::uint64_t i = 0; i < message.piece_count; ++i) {
    auto const& piece = message.pieces[i];
    int const access = piece.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(range + piece.place, piece.bytes, access, MAP_SHARED | MAP_FIXED, memory_descriptor,
             static_cast<off_t>(piece.memory_offset)) == MAP_FAILED)
      return false;
  }
  return true;
}

/// Fills in the descriptors of a call. Requires `to` zeroed, since padding is compared too.
void describe(call_message const& message, std::byte* range, descriptors& to) noexcept {
  for (std::uint32_t i = 0; i < slot_count; ++i) {
    auto const& slot = message.slots[i];
    auto& tensor = to.tensors[i];
    std::memcpy(to.shape[i], slot.shape, sizeof slot.shape);
    std::memcpy(to.strides[i], slot.strides, sizeof slot.strides);
    tensor.data = slot.data == null_data ? nullptr : range + slot.data;
    tensor.device.device_type = kDLCPU;
    tensor.ndim = slot.rank;
    tensor.dtype.code = slot.type_code;
    tensor.dtype.bits = slot.type_bits;
    tensor.dtype.lanes = 1;
    tensor.shape = to.shape[i];
    tensor.strides = to.strides[i];
    tensor.byte_offset = slot.byte_offset;
  }
  auto const present = [&](tensor_index i) { return message.slots[i].present ? &to.tensors[i] : nullptr; };
  auto& call = to.call;
  call.abi_version = ATTEST_KERNEL_ABI;
  call.threads = message.threads;
  call.q = present(q);
  call.k = present(k);
  call.v = present(v);
  call.mask = present(mask);
  call.bias = present(bias);
  problem::set_parameters(call, message.parameters);
  call.out = present(out);
  call.lse = present(lse);
  call.weights = present(weights);
}

/// Calls the kernel once.
reply_message call_kernel(call_message const& message, kernel_function kernel) noexcept {
  static descriptors passed, before;
  reply_message reply{};
  reply.magic = reply_magic;
  reply.sequence = message.sequence;
  auto* const range = static_cast<std::byte*>(
      mmap(nullptr, message.range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (range == MAP_FAILED) {
    reply.magic = no_range_magic;
    return reply;
  }
  if (!map_tensors(message, range)) {
    munmap(range, message.range_bytes);
    reply.magic = no_memory_magic;
    return reply;
  }
  std::memset(&passed, 0, sizeof passed);
  describe(message, range, passed);
  std::memcpy(&before, &passed, sizeof passed);
  crash.sequence = message.sequence;
  crash.range = range;

  std::fenv_t environment;
  std::fegetenv(&environment);
  auto const control = control_bits();
  double const start = now();
  reply.status = static_cast<std::int32_t>(kernel(&passed.call));
  double const end = now();
  reply.environment_changed = control_bits() != control;
  std::fesetenv(&environment);
  reply.seconds = end - start;
  reply.descriptors_changed = std::memcmp(&before, &passed, sizeof passed) != 0;
  munmap(range, message.range_bytes);
  return reply;
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
  std::fesetenv(&environment);
  greet(greeting::ready, text);

  static call_message message;
  for (;;) {
    receive_message(message);
    send_message(call_kernel(message, kernel));
  }
}

}  // namespace
}  // namespace attest::audit::runner

int main(int count, char** arguments) {
  using namespace attest::audit::runner;
  if (count != 4) {
    static char const usage[] = "attest-runner is started by attest; it has no use of its own\n";
    return write(STDERR_FILENO, usage, sizeof usage - 1) < 0 ? 3 : 2;
  }
  tie_to_parent(std::strtol(arguments[1], nullptr, 10));
  serve(arguments[2], arguments[3]);
}
