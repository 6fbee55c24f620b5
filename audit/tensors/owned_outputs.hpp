// The outputs of a kernel or of a file; any of them may be absent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "audit/tensors/owned_tensor.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

using problem::output_kind, problem::output_kinds, problem::output_names;

/// What the rows of an output that belong to no query held before they were cleared: the number of rows of each kind,
/// and the first, counted over all axes of the compact output except the last.
struct padding_found {
  struct rows {
    std::int64_t count = 0, first = 0;
    friend bool operator==(rows const&, rows const&) = default;
  };
  rows changed{};   ///< the kernel wrote there; none if the bytes before are not known
  rows not_zero{};  ///< an element is not 0; nor is an LSE −∞
};

struct owned_outputs {
  std::optional<owned_tensor> o{}, lse{}, weights{}, dq{}, dk{}, dv{}, dbias{}, dsink{};
  std::array<padding_found, output_names.size()> padding{};  ///< by output_kind

  std::optional<owned_tensor>& of(output_kind which) noexcept {
    switch (which) {
      case output_kind::o: return o;
      case output_kind::lse: return lse;
      case output_kind::weights: return weights;
      case output_kind::dq: return dq;
      case output_kind::dk: return dk;
      case output_kind::dv: return dv;
      case output_kind::dbias: return dbias;
      case output_kind::dsink: break;
    }
    return dsink;
  }
  std::optional<owned_tensor> const& of(output_kind which) const noexcept {
    return const_cast<owned_outputs&>(*this).of(which);
  }

  bool empty() const noexcept {
    return std::ranges::none_of(output_kinds, [&](output_kind which) { return of(which).has_value(); });
  }
};

/// Do both have the same outputs, with the same bytes?
inline bool same_bits(owned_outputs const& a, owned_outputs const& b) {
  return std::ranges::all_of(output_kinds, [&](output_kind which) {
    auto const &x = a.of(which), &y = b.of(which);
    return x.has_value() == y.has_value() && (!x || x->bytes == y->bytes);
  });
}

/// The optional outputs that a call of attention or of a merge asks for. A backward pass is asked for all gradients.
struct asked_outputs {
  bool lse = true, weights = true;
  friend bool operator==(asked_outputs const&, asked_outputs const&) = default;
};

/// The calls of a kernel that ask for an optional output: the calls that want it, all, or none.
enum class output_asking : std::uint8_t { as_wanted, always, never };
struct outputs_rule {
  output_asking lse = output_asking::as_wanted, weights = output_asking::as_wanted;
  friend bool operator==(outputs_rule const&, outputs_rule const&) = default;

  asked_outputs within(asked_outputs wanted) const { return {of(lse, wanted.lse), of(weights, wanted.weights)}; }
  /// What every call asks for.
  asked_outputs least() const { return within({false, false}); }

 private:
  static bool of(output_asking rule, bool wanted) {
    return rule == output_asking::always || (rule == output_asking::as_wanted && wanted);
  }
};

}  // namespace attest::audit
