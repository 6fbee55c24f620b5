// Which contracts declare the weights of a kernel: docs/bound.md, section 5.
#pragma once

#include <bit>
#include <cstdint>

#include "problem/kernel_model.hpp"

namespace attest::reference {

/// Is u a power of two, so that it says what numbers a format of at most 53 bits has?
constexpr bool is_power_of_two(double u) noexcept { return u >= 0x1p-53 && std::bit_cast<std::uint64_t>(u) << 12 == 0; }

/// Does the contract say beside which number each weight is formed, and to which numbers it is rounded?
constexpr bool declares_weights(problem::kernel_model const& model) noexcept {
  using problem::weight_reference;
  bool const in_order =
      model.weight_reference == weight_reference::rising || model.weight_reference == weight_reference::falling;
  // Lanes or warps with references of their own have no running maximum of all blocks so far.
  if (in_order && model.rescales == problem::rescale_count::none) return false;
  if (model.weight_reference != weight_reference::own_block && model.merges > 0) return false;
  return model.weight_reference != weight_reference::unknown && is_power_of_two(model.u_p) && model.u_v == 0 &&
         !model.p_shared && model.p_normalised == problem::normalised_first::no && model.k_pre == 0 && model.tau == 0 &&
         model.splits == 1 && model.merge == problem::split_merge::raw && model.normalise == problem::normaliser::sum;
}

/// Does the contract say in which order one accumulator of O takes the keys?
constexpr bool has_one_accumulator(problem::kernel_model const& model) noexcept {
  using problem::weight_reference;
  return model.accumulator == problem::accumulator::one &&
         (model.weight_reference == weight_reference::rising || model.weight_reference == weight_reference::falling);
}

}  // namespace attest::reference
