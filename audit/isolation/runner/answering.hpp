// Answers to the judge's requests, by a runner or by a process that serves a kernel by itself.
#pragma once

#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/socket.h>

#include "audit/isolation/runner/calls.hpp"
#include "audit/isolation/runner/protocol.hpp"

namespace attest::audit::runner {

/// False if the judge has ended, or if a filter that the kernel has set reports that no byte was sent.
template <class Message>
bool send_message(int channel, Message const& message) noexcept {
  ssize_t bytes = 0;
  do bytes = send(channel, &message, sizeof message, MSG_NOSIGNAL);
  while (bytes < 0 && errno == EINTR);
  return bytes == static_cast<ssize_t>(sizeof message);
}

/// Answers the requests of the judge, one after the other; its memory is reused.
class answering {
 public:
  /// The kernel's function for merges; without it, merges are answered with UNSUPPORTED.
  void merges_with(merge_function merge) noexcept { group_.merges_with(merge); }
  /// Its function for backward passes; without it, they are answered with UNSUPPORTED.
  void differentiates_with(kernel_function backward, bool alone) noexcept {
    group_.differentiates_with(backward, alone);
  }

  /// Waits for a request, makes its calls, whose tensors lie in `memory`, and sends the replies. False if the judge has
  /// closed its end of the channel, or has sent something else.
  bool answer(int channel, int memory, kernel_function kernel) noexcept {
    std::uint32_t count = 0;
    do
      if (count == most_together || !receive(channel, messages_[count])) return false;
    while (messages_[count++].following > 0);
    group_.make(messages_, count, kernel, memory, replies_);
    bool sent = true;
    for (std::uint32_t at = 0; at < count; ++at) sent = sent && send_message(channel, replies_[at]);
    return sent;
  }

 private:
  /// Waits even if a call has made the channel non-blocking.
  static bool receive(int channel, call_message& message) noexcept {
    ssize_t bytes = 0;
    do {
      pollfd question{channel, POLLIN, 0};
      poll(&question, 1, -1);
      bytes = recv(channel, &message, sizeof message, 0);
    } while (bytes < 0 && (errno == EINTR || errno == EAGAIN));
    return bytes >= static_cast<ssize_t>(bytes_with(0)) && message.magic == call_magic &&
           message.piece_count <= most_pieces && message.caller < most_together &&
           bytes == static_cast<ssize_t>(bytes_with(message.piece_count));
  }

  call_message messages_[most_together];
  reply_message replies_[most_together];
  call_group group_;
};

}  // namespace attest::audit::runner
