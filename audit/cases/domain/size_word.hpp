// One size of a call in words: "d=64".
#pragma once

#include <optional>
#include <string_view>

#include "audit/cases/domain/size_axis.hpp"

namespace attest::audit {

struct size_word {
  std::string_view axis;  ///< the name of one of size_axes
  std::int64_t size = 0;

  /// Returns nothing if it is no such word.
  static std::optional<size_word> of(std::string_view word);
  bool is_of(problem::sizes const& s) const;
  /// The calls of the domain with this size. Returns nothing if there are none.
  std::optional<call_domain> within(call_domain domain) const;
};

}  // namespace attest::audit
