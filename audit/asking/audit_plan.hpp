// What an audit asks: the fixed part, and what its draws are of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/asking/options.hpp"
#include "audit/asking/planned_cases.hpp"
#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

/// A case that cannot be made inside the domain of the kernel.
struct unfitted_case {
  std::string check, name, why;

  std::string full_name() const { return check + "/" + name; }
};

/// The functions whose calls are drawn. With both, every third draw is a backward pass.
struct drawn_functions {
  bool attention = true, backward = false;
};

struct audit_plan {
  /// Every case of this part is asked: first the cases that show what the kernel supports, then the others, then
  /// production shapes.
  std::vector<planned_case> fixed;
  std::size_t support_cases = 0;  ///< how many of `fixed` show what the kernel supports
  std::size_t shapes_from = 0;    ///< from here on the cases depend on limits
  std::int64_t all_fixed = 0;     ///< the cases of the fixed parts of all shards together
  bool draws = false;             ///< are draws asked after the fixed part?
  /// The functions that --only leaves, as far as the kernel has them.
  drawn_functions drawn{.attention = true, .backward = true};
  double slow_call = 0;        ///< seconds of a call, if the fixed part takes longer than it may; else 0
  std::size_t first_turn = 0;  ///< of a slow kernel: so many cases are the first ones of their checks, with few calls
  double late = 0;             ///< seconds that were added to the beginning of the audit, for a long search
  bool is_part = false;        ///< the domain was found in part: calls take so long
  std::string replayed{};      ///< the SHA-256 of the file of --replay; empty without one
  problem::element_type type = problem::element_type::f32;
  std::uint64_t seed = 0;
  shard part{};
  call_domain domain{};                   ///< every call of attention is inside it, except the calls of check "domain"
  call_domain of_gradients{};             ///< the same for backward passes
  bool has_attention = true;              ///< false: the library has no attention, and none is asked
  std::vector<unfitted_case> unfitted{};  ///< the generated cases that are not

  /// The draw at `index` ≥ 0 of this shard. Its number among all draws is part.index + index·part.of.
  planned_case draw(std::int64_t index, drawn_functions const& of = {}) const;
  std::int64_t draw_number(std::int64_t index) const { return part.index + index * part.of; }
  /// The calls of the first cases of the fixed part.
  std::int64_t calls_of(std::size_t cases) const;
  /// Their multiplications, as planned_case has them.
  double products_of(std::size_t cases) const;
  /// The case of this name. Returns nothing if the plan has no such case.
  std::optional<audit_case> make(std::string_view check, std::string_view name, shape_limits const& limits) const;
};

}  // namespace attest::audit
