#include "audit/cases/call_order.hpp"

#include <algorithm>

#include <fmt/format.h>

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
  problem::sizes const& s = of.call(call).size();
  return fmt::format("call {} of {} of this input, with b={} hq={} hk={} n={} m={} d={} dv={}", place + 1, order.size(),
                     s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv);
}

}  // namespace attest::audit
