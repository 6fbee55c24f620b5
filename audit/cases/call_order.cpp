#include "audit/cases/call_order.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/support/sizes_words.hpp"

namespace attest::audit {

std::vector<std::size_t> order_of_calls(audit_case const& of) {
  std::vector<std::size_t> order;
  for (bool const before : {true, false}) {
    if (!before) order.push_back(0);
    for (std::size_t n = 0; n < of.further.size(); ++n)
      if ((of.further[n].is == relation::warm_up) == before) order.push_back(n + 1);
  }
  return order;
}

std::string words_of_call(audit_case const& of, std::size_t call) {
  auto const order = order_of_calls(of);
  auto const place = std::ranges::find(order, call) - order.begin();
  if (call == 0 && place == 0) return "";
  return fmt::format("call {} of {} of this input, with {}", place + 1, order.size(),
                     sizes_words(of.call(call).size()));
}

}  // namespace attest::audit
