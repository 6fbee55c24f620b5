// A runner's report about a call in PREFIX.attest.status, in addition to outputs or in their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attest::audit {

/// The end of a call that gave no answer.
struct call_status {
  enum class ending : std::uint8_t {
    error,        ///< `error: TEXT`: the kernel or its library reported an error
    killed,       ///< `killed: SIGNAL`: a signal ended the process, by its number
    hung,         ///< `hung`: it did not return in the time that the runner gave it
    unsupported,  ///< `unsupported: TEXT`: the kernel does not support such problems
  };
  ending as = ending::error;
  std::string text{};  ///< of an error or an unsupported call, printable; may be empty
  int signal = 0;      ///< of a killed process

  friend bool operator==(call_status const&, call_status const&) = default;
};

/// Parses the value of PREFIX.attest.status. Returns nothing for any other text.
std::optional<call_status> parse_call_status(std::string_view text);

/// The status as a sentence about the kernel: "it was ended by signal 8 (SIGFPE)".
std::string sentence_of(call_status const& status);

}  // namespace attest::audit
