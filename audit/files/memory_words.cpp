#include "audit/files/memory_words.hpp"

#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace attest::audit {
namespace {

struct flag {
  std::string_view word;
  bool memory_form::* member;
};
constexpr flag flags[]{{"v-in-k", &memory_form::v_in_k},
                       {"shared-batch", &memory_form::shared_batch},
                       {"shared-heads", &memory_form::shared_heads},
                       {"heads-inside", &memory_form::heads_inside},
                       {"o-inside", &memory_form::o_inside},
                       {"unaligned", &memory_form::unaligned}};

struct number {
  std::string_view word;
  std::int64_t memory_form::* member;
};
constexpr number numbers[]{{"overlap", &memory_form::overlap},   {"row-gap", &memory_form::row_gap},
                           {"head-gap", &memory_form::head_gap}, {"far-batch", &memory_form::far_batch},
                           {"far-head", &memory_form::far_head}, {"far-row", &memory_form::far_row}};

}  // namespace

std::string memory_words(memory_form const& form) {
  std::string text;
  char const* space = "";
  auto const add = [&](std::string const& words) { text += space + words, space = " "; };
  for (auto const& [word, member] : flags)
    if (form.*member) add(std::string(word));
  for (auto const& [word, member] : numbers)
    if (form.*member != 0) add(fmt::format("{} {}", word, form.*member));
  return text;
}

std::optional<memory_form> parse_memory_words(std::string const& text) {
  memory_form form;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    bool known = false;
    for (auto const& [name, member] : flags)
      if (word == name) form.*member = known = true;
    for (auto const& [name, member] : numbers)
      if (word == name) known = static_cast<bool>(words >> form.*member);
    if (!known) return std::nullopt;
  }
  if (text != memory_words(form)) return std::nullopt;
  return form;
}

}  // namespace attest::audit
