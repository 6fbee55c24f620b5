#include "audit/files/call_status.hpp"

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

constexpr std::size_t most_text = 400;  // bytes of an error that a report shows

/// The text after "WORD:", without the spaces around it. Returns nothing if the text begins with another word.
std::optional<std::string_view> after(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (text.empty()) return text;
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  auto const first = text.find_first_not_of(" \n");
  if (first == text.npos) return std::string_view();
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

}  // namespace

std::optional<call_status> parse_call_status(std::string_view text) {
  using enum call_status::ending;
  if (text == "hung") return call_status{.as = hung};
  if (auto const why = after("error", text)) return call_status{.as = error, .text = printable(*why, most_text)};
  if (auto const why = after("unsupported", text))
    return call_status{.as = unsupported, .text = printable(*why, most_text)};
  auto const number = after("killed", text);
  if (!number) return std::nullopt;
  call_status status{.as = killed};
  char const* const past = number->data() + number->size();
  auto const [end, code] = std::from_chars(number->data(), past, status.signal);
  if (code != std::errc{} || end != past || status.signal < 1 || status.signal > 127) return std::nullopt;
  return status;
}

std::string sentence_of(call_status const& status) {
  switch (status.as) {
    case call_status::ending::error:
      return status.text.empty() ? "it reported an error" : fmt::format("it reported an error: {}", status.text);
    case call_status::ending::hung: return "it did not return";
    case call_status::ending::unsupported:
      return status.text.empty() ? "it is not supported" : fmt::format("it is not supported: {}", status.text);
    case call_status::ending::killed: break;
  }
  char const* const name = ::sigabbrev_np(status.signal);
  return name ? fmt::format("it was ended by signal {} (SIG{})", status.signal, name)
              : fmt::format("it was ended by signal {}", status.signal);
}

}  // namespace attest::audit
