// The models of the kernels of tests/support/known_kernels.hpp: a preset, or the roundings of that kernel alone.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "audit/contract/contract.hpp"
#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"
#include "tests/support/known_kernel.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// The roundings that known_run makes of plain scores, and no more. Requires a kernel with contract "tight"
template <class F>
problem::kernel_model tight_model(known_kernel const& kernel, written<F> const& row, std::int64_t block) {
  using namespace problem;
  constexpr bool single = std::is_same_v<F, float>;
  bool const flushes = kernel.how.flushes, base_2 = kernel.softmax == softmax_form::flash_attention_2;
  kernel_model model;
  model.format =
      single ? (flushes ? formats::f32_flushed : formats::f32) : (flushes ? formats::f64_flushed : formats::f64);
  double const u = model.format.u;
  // The rounding of the factor and of the product, and the error of the library.
  auto const error = [&](double asked) { return (asked == 0 ? 0 : asked + 0.1) * u + (single ? 1.001 : 2) * u; };
  model.flushes = flushes;
  model.k_qk_base = row.scale ? 1 : 3;  // a product; a root and a quotient
  model.k_add = row.bias.values.empty() ? 0 : 1;
  model.e_c = (single ? 3.01 : 4.01) * u;  // a quotient, the library's tanh, a product; read with a softcap only
  model.eps = error(kernel.how.exp_error), model.eps_log = error(kernel.how.log_error);
  if (base_2) {
    model.k_x = 2 + 5;  // fma and its products; c takes a root, a quotient, log₂ e and a product; the difference of r
    model.c_m = 1, model.k_lse = 3;
    model.large_scores = large_scores::unspecified;  // exp2 overflows beyond scores of about 10⁹
  }
  model.rescales = rescale_count::none;  // of two passes, and of parts that have two passes each
  if (base_2 || kernel.softmax == softmax_form::online)
    model.rescales = kernel.block > 0 ? rescale_count::per_block : rescale_count::rank_of_score;
  if (kernel.block > 0) model.block = kernel.block;
  if (kernel.block > 0 && kernel.sums_blocks) model.height = sum_height::block_local;
  model.tau = kernel.tau;
  model.k_f = kernel.reciprocal || base_2 ? 2 : 1;
  if (kernel.how.narrow == element_type::bf16) model.u_p = 0x1p-8, model.omega_p = 0x1p-134;
  if (kernel.softmax == softmax_form::normalised) model.k_pre = model.k_f, model.k_f = 0;
  model.k_t = 0, model.k_drop = kernel.drops == drop_place::divided ? 2 : 3;
  if (kernel.sink_is_behind()) model.k_sink = kernel.sink == sink_place::sigmoid ? 3 : 1;
  if (kernel.softmax == softmax_form::ring_sigmoid || kernel.softmax == softmax_form::tree_sigmoids) {
    auto const keys = static_cast<std::uint64_t>(row.v.layout.shape[0]), of_block = static_cast<std::uint64_t>(block),
               parts = (keys + of_block - 1) / of_block;
    model.merge_levels = kernel.softmax == softmax_form::ring_sigmoid ? static_cast<int>(parts) - 1
                                                                      : static_cast<int>(std::bit_width(parts - 1));
  }
  return model;
}

/// The preset of a kernel, or its own model, with what the kernel declares beside it for a row in blocks of `block`
/// keys.
template <class F>
problem::kernel_model model_of(known_kernel const& kernel, written<F> const& row, std::int64_t block) {
  using namespace problem;
  kernel_model model =
      kernel.contract == "tight" ? tight_model(kernel, row, block) : audit::find_contract(kernel.contract)->fixed;
  if (kernel.softmax == softmax_form::by_lse) model.normalise = normaliser::lse;
  if (kernel.softmax == softmax_form::ring_sigmoid) model.merge = split_merge::logsigmoid;
  if (kernel.softmax == softmax_form::tree_sigmoids) model.merge = split_merge::sigmoid;
  if (kernel.softmax == softmax_form::flash_attention_1) model.divided_block = block;
  // exp2(fma(s, c, −fl(M·c))) is finite while half an ulp of M·c is at most 64.
  if (kernel.sink == sink_place::end) model.sink_limit = 86;
  if (kernel.sink_is_behind() && model.sink_form == sink_form::term) model.sink_form = sink_form::rescale;
  model.x0 = kernel.x0();
  if (kernel.how.narrow != element_type::f32 && kernel.drops != drop_place::none)
    model.u_drop = model.u_out, model.omega_drop = model.omega_out;
  if (kernel.masked) model.mask_limit = 0x1p31 * 0.6931;
  if (kernel.declared != weight_reference::unknown) {
    model.weight_reference = kernel.declared, model.block = block;
    model.p_normalised = normalised_first::no, model.k_pre = 0;
    model.omega_p = std::ldexp(1.0, row_of(kernel.how.narrow).format.smallest() - 1);
  }
  return model;
}

}  // namespace attest::tests
