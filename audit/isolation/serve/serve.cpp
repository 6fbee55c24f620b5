// libattest_serve (include/attest/serve.h): the part of a runner that makes calls, for processes that load a kernel in
// their own way. Like the runner it links the C library only, and trusts the judge.
#define ATTEST_NOEXCEPT noexcept
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <attest/serve.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/isolation/runner/answering.hpp"
#include "audit/isolation/runner/crash_handler.hpp"
#include "audit/isolation/runner/environment.hpp"
#include "audit/isolation/runner/protocol.hpp"

using namespace attest::audit::runner;

namespace {

/// When this library was loaded, which is before the kernel was.
std::uint64_t const control_at_load = control_bits();

/// One kernel of the judge: it may ask several at the same time (--jobs).
struct connection {
  int channel = -1, memory = -1;
};
constexpr int most_connections = 64;

hello_message hello_of(greeting state, char const* text) noexcept {
  hello_message hello{};
  hello.magic = hello_magic;
  hello.state = state;
  hello.environment_changed = control_bits() != control_at_load;
  if (text) std::strncpy(hello.text, text, sizeof hello.text - 1);
  return hello;
}

/// Did the judge start this process?
bool is_caged() noexcept {
  int kind = 0;
  socklen_t size = sizeof kind;
  return getsockopt(channel_descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET &&
         fcntl(memory_descriptor, F_GET_SEALS) >= 0;  // fails for all but a memfd
}

}  // namespace

struct attest_server {
  int control = -1;  ///< new connections come through it; −1 if none can come
  connection connections[most_connections];
  int count = 0;
  char name[200] = {};
  answering requests;

  void add(int channel, int memory) noexcept {
    if (count == most_connections || !send_message(channel, hello_of(greeting::ready, name))) {
      close(channel), close(memory);
      return;
    }
    connections[count++] = {channel, memory};
  }

  void drop(int at) noexcept {
    close(connections[at].channel), close(connections[at].memory);
    connections[at] = connections[--count];
  }

  /// Takes a new connection. If the control socket has ended, so has the judge.
  void accept_one() noexcept {
    attach_message message{};
    iovec into{&message, sizeof message};
    int passed[2] = {-1, -1};
    alignas(cmsghdr) char control_bytes[CMSG_SPACE(sizeof passed)];
    msghdr header{};
    header.msg_iov = &into, header.msg_iovlen = 1;
    header.msg_control = control_bytes, header.msg_controllen = sizeof control_bytes;
    ssize_t const bytes = recvmsg(control, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (bytes <= 0) {
      control = -1;
      return;
    }
    cmsghdr const* const first = CMSG_FIRSTHDR(&header);
    if (bytes != sizeof message || message.magic != attach_magic || !first || first->cmsg_level != SOL_SOCKET ||
        first->cmsg_type != SCM_RIGHTS || first->cmsg_len != CMSG_LEN(sizeof passed))
      return;
    std::memcpy(passed, CMSG_DATA(first), sizeof passed);
    add(passed[0], passed[1]);
  }
};

namespace {

attest_server* made(char const* name) noexcept {
  void* const memory = std::calloc(1, sizeof(attest_server));
  if (!memory) return nullptr;
  auto* const server = new (memory) attest_server;
  if (name) std::strncpy(server->name, name, sizeof server->name - 1);
  return server;
}

}  // namespace

extern "C" {

attest_server* attest_serve_caged(char const* name) noexcept {
  if (!is_caged()) return nullptr;
  void* const note = mmap(nullptr, sizeof(crash_note), PROT_READ | PROT_WRITE, MAP_SHARED, memory_descriptor, 0);
  attest_server* const server = made(name);
  if (!server || note == MAP_FAILED) {
    attest_serve_refuse(std::strerror(ENOMEM));
    std::free(server);
    return nullptr;
  }
  watch_for_crashes(static_cast<crash_note*>(note));
  server->add(channel_descriptor, memory_descriptor);
  return server;
}

void attest_serve_refuse(char const* why) noexcept {
  if (is_caged()) send_message(channel_descriptor, hello_of(greeting::not_loaded, why));
}

attest_server* attest_serve_attached(int control, char const* name) noexcept {
  attest_server* const server = made(name);
  if (server) server->control = control;
  return server;
}

void attest_serve_merges(attest_server* server, attest_status (*merge)(attest_merge_call const*)) noexcept {
  server->requests.merges_with(merge);
}

void attest_serve_backward(attest_server* server, attest_status (*backward)(attest_call const*), int alone) noexcept {
  server->requests.differentiates_with(backward, alone != 0);
}

int attest_serve_next(attest_server* server, attest_status (*kernel)(attest_call const*), int milliseconds) noexcept {
  for (;;) {
    if (server->control < 0 && server->count == 0) return -1;
    pollfd waits[most_connections + 1];
    int const count = server->count;
    for (int at = 0; at < count; ++at) waits[at] = {server->connections[at].channel, POLLIN, 0};
    waits[count] = {server->control, POLLIN, 0};
    int const ready = poll(waits, static_cast<nfds_t>(count) + 1, milliseconds);
    if (ready <= 0) return 0;
    if (waits[count].revents != 0) server->accept_one();
    for (int at = 0; at < count; ++at) {
      if (waits[at].revents == 0) continue;
      if (server->requests.answer(server->connections[at].channel, server->connections[at].memory, kernel)) {
        // The others get their turn first.
        connection const served = server->connections[at];
        std::memmove(server->connections + at, server->connections + at + 1,
                     sizeof served * static_cast<std::size_t>(server->count - at - 1));
        server->connections[server->count - 1] = served;
        return 1;
      }
      server->drop(at);
      break;
    }
  }
}

void attest_serve_say(char const* text) noexcept {
  if (!saying_for) return;
  std::strncpy(saying_for->text, text ? text : "", sizeof saying_for->text);
}

void attest_serve_end(attest_server* server) noexcept {
  if (!server) return;
  while (server->count > 0) server->drop(0);
  std::free(server);
}
}
