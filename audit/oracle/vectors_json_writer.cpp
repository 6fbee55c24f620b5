// The writer of vectors_json.hpp: certified test vectors to JSON.
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/oracle/vectors_json.hpp"
#include "audit/support/real_number.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using nlohmann::json;

std::string list_of(std::size_t size, auto&& item) {
  std::string text = "[";
  for (std::size_t n = 0; n < size; ++n) text += (n ? "," : "") + item(n);
  return text + "]";
}

std::string json_string(std::string_view text) { return json(text).dump(); }

std::string values_of(owned_tensor const& t) {
  return list_of(t.spanned_elements(), [&](std::size_t n) { return json_string(hex(load(t, n))); });
}

std::string broadcast_of(std::optional<owned_tensor> const& t, bool mask) {
  if (!t) return "null";
  std::string const values =
      mask ? list_of(t->spanned_elements(), [&](std::size_t n) { return std::string(load(*t, n) != 0 ? "1" : "0"); })
           : values_of(*t);
  return fmt::format("{{\"shape\":{},\"values\":{}}}",
                     list_of(4, [&](std::size_t n) { return std::to_string(t->layout.shape[n]); }), values);
}

std::string truths_of(std::vector<certified_value> const& all) {
  auto const part = [&](auto&& which) { return list_of(all.size(), [&](std::size_t n) { return which(all[n]); }); };
  return fmt::format("{{\"truth_lower\":{},\n   \"truth_upper\":{},\n   \"rounded\":{}}}",
                     part([](auto const& x) { return json_string(hex(x.lower)); }),
                     part([](auto const& x) { return json_string(hex(x.upper)); }), part([](auto const& x) {
                       return x.rounded ? json_string(hex(*x.rounded)) : std::string("null");
                     }));
}

/// "scale":null,"softcap":"0x0p+0",…
std::string parameters_of(problem::parameters const& p) {
  std::string members;
  problem::visit_parameters(p, [&]<class T>(problem::parameter<T> const& parameter, T const& value) {
    if (parameter.later && value == parameter.neutral) return;
    std::string text;
    if constexpr (std::is_same_v<T, std::int64_t>) text = std::to_string(value);
    else if constexpr (std::is_same_v<T, double>) text = json_string(hex(value));
    else text = value ? json_string(hex(*value)) : "null";
    members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", parameter.name, text);
  });
  return members;
}

}  // namespace

std::string vector_text(vector_file const& file) {
  std::string text = fmt::format("{{\"attest\":\"vectors\",\"schema\":1,\"check\":{},\n\"flags\":{},\n\"cases\":[\n",
                                 json_string(file.check), json(file.flags).dump());
  for (std::size_t at = 0; at < file.cases.size(); ++at) {
    vector_case const& c = file.cases[at];
    problem_draft const& draft = c.problem.draft();
    problem::sizes const& s = c.problem.size();
    text += fmt::format("{}{{\"name\":{},\"type\":\"{}\",\"flags\":{},\n", at ? ",\n" : "", json_string(c.name),
                        problem::name_of(c.problem.type()), json(c.flags).dump());
    text += fmt::format("  \"sizes\":{{\"b\":{},\"hq\":{},\"hk\":{},\"n\":{},\"m\":{},\"d\":{},\"dv\":{}}},\n", s.b,
                        s.hq, s.hk, s.n, s.m, s.d, s.dv);
    text += fmt::format("  {},\n", parameters_of(draft));
    text += fmt::format("  \"q\":{},\n  \"k\":{},\n  \"v\":{},\n", values_of(draft.q), values_of(draft.k),
                        values_of(draft.v));
    text += fmt::format("  \"mask\":{},\n  \"bias\":{},\n", broadcast_of(draft.mask, true),
                        broadcast_of(draft.bias, false));
    text += fmt::format("  \"o\":{},\n  \"lse\":{}}}", truths_of(c.o), truths_of(c.lse));
  }
  return text + "\n]}\n";
}

}  // namespace attest::audit
