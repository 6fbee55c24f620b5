// The axes of the C interface, and the points on each that an audit asks: every tensor in every layout and type, every
// integer at its edges, every number in each of its ranges. A field without points fails a test.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/case.hpp"

namespace attest::audit {

/// One call of a case.
struct call_view {
  problem_draft const& p;
  problem::sizes s;
  memory_form const& memory;
  std::int32_t threads;
};

struct interface_point {
  std::string field;  ///< of attest_call: "bias"
  std::string name;   ///< "heads inside"
  std::function<bool(call_view const&)> has;

  std::string text() const { return field + ": " + name; }
};

/// For problems of this type. Source: attest/kernel.h, and problem/optional_tensors.hpp for the optional tensors.
std::span<interface_point const> interface_points(problem::element_type type);

/// Fields that have one value only, for which no rule is stated, or that only a backward pass has.
inline constexpr std::string_view fields_without_points[]{"reserved", "q_scale", "k_scale", "v_scale", "d_out",
                                                          "d_q",      "d_k",     "d_v",     "d_bias",  "d_sink"};

/// The points that the calls so far were at.
class points_asked {
 public:
  explicit points_asked(problem::element_type type) : all_(interface_points(type)), asked_(all_.size()) {}

  /// Requires  rank 4
  void add(call_view const& call);
  void add(audit_case const& of);
  std::vector<interface_point const*> missing() const;
  std::size_t count() const { return all_.size(); }
  /// "interface: 180 of 203 points were answered; not all of keep, q: b = 65536, 7 of the 30 of k".
  std::string words() const;

 private:
  std::span<interface_point const> all_;
  std::vector<bool> asked_;
};

}  // namespace attest::audit
