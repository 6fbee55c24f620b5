// Kernels that round as they say: kernels that people run, each with the preset that admits it, and plain kernels
// with models of their own. The bound of its preset or model must hold for every one of them on every row.
// (tests/support/known_run.hpp runs them; tests/support/known_models.hpp has the models. The honest kernels of
// audit/zoo/ are others on purpose: they answer calls through kernel.h, and are judged by presets.)
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "problem/element_type.hpp"
#include "problem/kernel_model.hpp"
#include "tests/support/known_kernel.hpp"

namespace attest::tests {

/// Plain kernels, each under a model of its own, in float and double arithmetic. All return weights.
inline std::vector<known_kernel> plain_kernels() {
  using enum softmax_form;
  std::vector<known_kernel> all;
  auto const add = [&](std::string name, softmax_form form, std::int64_t block, auto&& change) {
    known_kernel kernel;
    kernel.name = std::move(name), kernel.contract = "tight", kernel.softmax = form, kernel.block = block;
    kernel.tanh = tanh_form::library, kernel.returns_weights = kernel.sums_blocks = true;
    kernel.how.fused = false, kernel.how.exp_error = kernel.how.log_error = 0;
    change(kernel);
    all.push_back(kernel);
  };
  auto const exp_4_ulp_off = [](auto& k) { k.how.exp_error = 8; };
  add("plain", two_passes, 0, [](auto&) {});
  add("plain, weights first", normalised, 0, [](auto&) {});
  add("plain, weights first by reciprocal, fma", normalised, 0, [](auto& k) { k.reciprocal = k.how.fused = true; });
  add("plain, reciprocal, exp 4 ulp off", two_passes, 0, [&](auto& k) { k.reciprocal = true, exp_4_ulp_off(k); });
  add("plain, blocks of 1, in place", online, 1, [](auto& k) { k.sums_blocks = false; });
  add("plain, blocks of 1, reversed, exp 4 ulp off", online, 1,
      [&](auto& k) { k.sums_blocks = false, k.reversed = true, exp_4_ulp_off(k); });
  add("plain, blocks of 3, fma", online, 3, [](auto& k) { k.how.fused = true; });
  add("plain, blocks of 8", online, 8, [](auto&) {});
  add("plain, blocks of 64, reversed", online, 64, [](auto& k) { k.reversed = true; });
  add("plain, blocks of 4, flushing", online, 4, [](auto& k) { k.how.flushes = true; });
  add("plain, lazy rescaling by 5, blocks of 2", online, 2, [](auto& k) { k.tau = 5; });
  add("plain, lazy rescaling by 8, blocks of 1, in place, exp 4 ulp off", online, 1,
      [&](auto& k) { k.sums_blocks = false, k.tau = 8, exp_4_ulp_off(k); });
  add("plain, base 2, blocks of 4", flash_attention_2, 4, [](auto& k) { k.how.fused = true; });
  add("plain, bf16 weights, blocks of 5", online, 5,
      [](auto& k) { k.how.narrow = problem::element_type::bf16, k.how.stores_wide = true; });
  return all;
}

/// Every known kernel under every preset that admits it.
inline std::vector<known_kernel> known_kernels() {
  using enum softmax_form;
  using enum problem::element_type;
  std::vector<known_kernel> all = plain_kernels();
  auto const add = [&](std::string name, std::string const& contracts, auto&& change) {
    for (std::size_t at = 0; at <= contracts.size();) {
      std::size_t const end = std::min(contracts.find(' ', at), contracts.size());
      known_kernel kernel;
      kernel.name = name, kernel.contract = contracts.substr(at, end - at);
      change(kernel);
      all.push_back(kernel);
      at = end + 1;
    }
  };
  add("FlashAttention-1", "f32 f32-ordered", [](auto& k) { k.softmax = flash_attention_1; });
  add("FlashAttention-2", "f32 f32-ordered", [](auto& k) { k.softmax = flash_attention_2; });
  add("FlashAttention-2, a bias", "f32", [](auto& k) { k.softmax = flash_attention_2, k.biased = true; });
  add("FlashAttention-2, finite masks", "f32", [](auto& k) { k.softmax = flash_attention_2, k.masked = true; });
  add("online", "f32 f32-any", [](auto& k) { k.softmax = online; });
  add("two passes, weights first", "f32", [](auto& k) { k.softmax = normalised, k.returns_weights = true; });
  add("sqrt(scale) on q and k", "f32",
      [](auto& k) { k.scores = score_form::root, k.returns_weights = k.biased = true; });
  add("bias as first value", "f32 f32-any", [](auto& k) { k.scores = score_form::bias_first, k.biased = true; });
  add("exp(s - LSE), no division", "f32", [](auto& k) { k.softmax = by_lse, k.returns_weights = true; });
  add("split keys, no division", "f32-split", [](auto& k) { k.softmax = split, k.most_keys = 40; });
  add("split keys, no division, base 2", "f32-split",
      [](auto& k) { k.softmax = split, k.scores = score_form::base_2, k.most_keys = 40; });
  add("split keys, divided", "f32-any", [](auto& k) { k.softmax = one_level, k.most_keys = 40; });
  add("two parts, base 2", "f32-any", [](auto& k) { k.softmax = one_level, k.scores = score_form::base_2; });
  add("ring", "f32-ring", [](auto& k) { k.softmax = ring, k.most_keys = 64; });
  add("ring, base 2", "f32-ring", [](auto& k) { k.softmax = ring, k.scores = score_form::base_2, k.most_keys = 64; });
  add("tree", "f32-ring", [](auto& k) { k.softmax = tree, k.most_keys = 64; });
  for (auto const& [name, form] :
       {std::pair{"ring by sigmoids", ring_sigmoid}, {"tree of two sigmoids", tree_sigmoids}}) {
    add(name, "f32-ring-sigmoid", [&](auto& k) { k.softmax = form, k.most_keys = 32; });
    add(name, "tight", [&](auto& k) { k.softmax = form, k.most_keys = 8; });
    add(std::string(name) + ", weights", "f32-ring-sigmoid tight",
        [&](auto& k) { k.softmax = form, k.returns_weights = true, k.most_keys = 8; });
    add(std::string(name) + ", weights by the LSE", "f32-ring-sigmoid tight",
        [&](auto& k) { k.softmax = form, k.returns_weights = k.weights_by_lse = true, k.most_keys = 8; });
    add(std::string(name) + ", base 2", "f32-ring-sigmoid",
        [&](auto& k) { k.softmax = form, k.scores = score_form::base_2, k.most_keys = 32; });
    add(std::string(name) + ", flushing", "f32-ring-sigmoid",
        [&](auto& k) { k.softmax = form, k.how.flushes = true, k.most_keys = 32; });
    add(std::string(name) + ", sink", "f32-ring-sigmoid",
        [&](auto& k) { k.softmax = form, k.sink = sink_place::first, k.most_keys = 32; });
  }
  add("flushing", "f32", [](auto& k) { k.how.flushes = true, k.scores = score_form::folded; });
  add("flushing, a bias", "f32", [](auto& k) { k.how.flushes = k.biased = true, k.softmax = online; });
  add("softcap 1 - 2/(e^2y + 1)", "f32", [](auto& k) { k.capped = true; });
  add("softcap 2/(1 + e^-2y) - 1", "f32", [](auto& k) { k.capped = true, k.tanh = tanh_form::from_above; });
  add("softcap (e^2y - 1)/(e^2y + 1)", "f32", [](auto& k) { k.capped = true, k.tanh = tanh_form::quotient; });
  for (auto const type : {bf16, f16}) {
    std::string const name(problem::name_of(type));
    auto const narrow = [&](std::string const& kind, std::string const& contracts, auto&& change) {
      add(name + " " + kind, contracts, [&](known_kernel& k) { k.how.narrow = type, change(k); });
    };
    std::string const both = name + " " + name + "-ieee";
    narrow("FlashAttention-2", both, [](auto& k) { k.softmax = flash_attention_2; });
    narrow("FlashAttention-2, truncating", name,
           [](auto& k) { k.softmax = flash_attention_2, k.how.truncates = true; });
    narrow("FlashAttention-1", name, [](auto& k) { k.softmax = flash_attention_1; });
    narrow("weights divided, then rounded", both, [](auto& k) { k.softmax = normalised, k.most_keys = 40; });
    narrow("FlashAttention-2, declared", both, [](auto& k) {
      k.softmax = flash_attention_2, k.declared = problem::weight_reference::rising, k.most_keys = 40;
    });
    narrow("FlashAttention-2, truncating, declared", name, [](auto& k) {
      k.softmax = flash_attention_2, k.declared = problem::weight_reference::rising, k.how.truncates = true;
    });
    narrow("FlashAttention-1, declared", name, [](auto& k) {
      k.softmax = flash_attention_1, k.declared = problem::weight_reference::own_block, k.most_keys = 40;
    });
    narrow("two passes, declared", both,
           [](auto& k) { k.declared = problem::weight_reference::whole_row, k.most_keys = 40; });
    narrow("weights of the rounded P", name, [](auto& k) { k.returns_weights = k.returns_narrow_p = true; });
    narrow("weights of the unrounded P", name, [](auto& k) { k.returns_weights = true; });
  }
  add("f16 flushing, weights divided", "f16-ftz",
      [](auto& k) { k.how.narrow = f16, k.how.flushes_narrow = true, k.softmax = normalised, k.most_keys = 40; });
  add("f16 flushing", "f16-ftz",
      [](auto& k) { k.how.narrow = f16, k.how.flushes_narrow = k.how.flushes = true, k.softmax = online; });
  add("gradual underflow", "f32-gradual", [](auto& k) { k.softmax = online, k.biased = true; });
  add("gradual underflow, folded", "f32-gradual", [](auto& k) { k.scores = score_form::folded, k.capped = true; });
  add("gradual underflow, FlashAttention-2", "f32-gradual", [](auto& k) { k.softmax = flash_attention_2; });
  add("gradual underflow, sqrt(scale)", "f32-gradual",
      [](auto& k) { k.scores = score_form::root, k.softmax = normalised, k.returns_weights = true; });
  auto const stored = [&](std::string const& kind, auto&& change) {
    add("scores in f16" + kind, "f16-scores", [&](known_kernel& k) { k.how.scores = f16, change(k); });
  };
  stored("", [](auto& k) { k.softmax = online; });
  stored(", base 2", [](auto& k) { k.scores = score_form::base_2, k.softmax = online; });
  stored(", a bias", [](auto& k) { k.biased = k.returns_weights = true; });
  stored(", a softcap", [](auto& k) { k.capped = true, k.softmax = normalised, k.returns_weights = true; });
  stored(", flushing", [](auto& k) { k.how.flushes = true, k.scores = score_form::folded; });
  auto const throughout = [&](std::string const& kind, auto&& change) {
    add("bf16 throughout" + kind, "bf16-throughout",
        [&](known_kernel& k) { k.how.narrow = bf16, k.how.narrow_throughout = true, change(k); });
  };
  throughout("", [](auto& k) { k.softmax = online; });
  throughout(", base 2", [](auto& k) { k.scores = score_form::base_2, k.softmax = online; });
  throughout(", sqrt(scale), a bias",
             [](auto& k) { k.scores = score_form::root, k.biased = k.returns_weights = true, k.softmax = normalised; });
  throughout(", softcap", [](auto& k) { k.capped = k.biased = true; });
  throughout(", truncating", [](auto& k) { k.softmax = online, k.how.truncates = true, k.most_keys = 40; });
  throughout(", flushing", [](auto& k) {
    k.how.flushes = k.how.flushes_narrow = k.returns_weights = k.returns_narrow_p = true, k.scores = score_form::folded;
  });
  auto const converted = [&](std::string const& kind, auto&& change) {
    add("f64 in f32" + kind, "f64-in-f32", [&](known_kernel& k) { k.how.from_f64 = true, change(k); });
  };
  converted("", [](auto& k) { k.softmax = online; });
  converted(", base 2", [](auto& k) { k.scores = score_form::base_2, k.softmax = online; });
  converted(", sqrt(scale), a bias",
            [](auto& k) { k.scores = score_form::root, k.biased = k.returns_weights = true, k.softmax = normalised; });
  converted(", FlashAttention-1", [](auto& k) { k.softmax = flash_attention_1; });
  converted(", softcap", [](auto& k) { k.capped = true; });
  converted(", flushing", [](auto& k) { k.how.flushes = true, k.scores = score_form::folded; });
  add("sink from the start", "f32 f32-any", [](auto& k) { k.softmax = online, k.sink = sink_place::first; });
  add("sink from the start, base 2", "f32",
      [](auto& k) { k.softmax = online, k.scores = score_form::base_2, k.sink = sink_place::first; });
  add("sink as a column", "f32", [](auto& k) { k.sink = sink_place::column, k.returns_weights = true; });
  add("sink as a column, a bias", "f32",
      [](auto& k) { k.softmax = online, k.sink = sink_place::column, k.biased = true; });
  add("sink as a column, softcap", "f32", [](auto& k) { k.sink = sink_place::column, k.capped = true; });
  add("sink last", "f32 f32-ordered", [](auto& k) { k.softmax = online, k.sink = sink_place::last; });
  add("sink at the end", "f32", [](auto& k) { k.softmax = online, k.sink = sink_place::end; });
  add("sink at the end, weights first", "f32",
      [](auto& k) { k.softmax = normalised, k.sink = sink_place::end, k.returns_weights = true; });
  add("sink at the end, FlashAttention-2", "f32",
      [](auto& k) { k.softmax = flash_attention_2, k.sink = sink_place::end; });
  add("sink in the first part", "f32-split",
      [](auto& k) { k.softmax = split, k.sink = sink_place::first, k.most_keys = 40; });
  add("sink in the first part, ring", "f32-ring",
      [](auto& k) { k.softmax = ring, k.sink = sink_place::first, k.most_keys = 64; });
  add("sink, exp(s - LSE)", "f32", [](auto& k) { k.softmax = by_lse, k.sink = sink_place::column; });
  add("sink as a score in f16", "f16-scores", [](auto& k) { k.how.scores = f16, k.sink = sink_place::column; });
  add("sink, flushing", "f32", [](auto& k) { k.how.flushes = true, k.softmax = online, k.sink = sink_place::first; });
  add("dropout on P", "f32", [](auto& k) { k.softmax = online, k.drops = drop_place::on_p; });
  add("dropout on P, divided", "f32", [](auto& k) { k.drops = drop_place::divided; });
  add("dropout on O", "f32", [](auto& k) { k.softmax = online, k.drops = drop_place::on_o; });
  add("dropout on V", "f32", [](auto& k) { k.softmax = online, k.drops = drop_place::on_v; });
  add("dropout and a sink", "f32",
      [](auto& k) { k.softmax = online, k.drops = drop_place::on_p, k.sink = sink_place::first; });
  for (auto const type : {bf16, f16}) {
    std::string const name(problem::name_of(type));
    auto const narrow = [&](std::string const& kind, auto&& change) {
      add(name + " " + kind, name, [&](known_kernel& k) { k.how.narrow = type, k.softmax = online, change(k); });
    };
    narrow("sink from the start", [](auto& k) { k.sink = sink_place::first; });
    narrow("sink at the end", [](auto& k) { k.sink = sink_place::end; });
    narrow("dropout on P", [](auto& k) { k.drops = drop_place::on_p; });
    narrow("dropout on P, twice rounded", [](auto& k) { k.drops = drop_place::on_p_twice; });
    narrow("dropout on V", [](auto& k) { k.drops = drop_place::on_v; });
    narrow("dropout on O", [](auto& k) { k.drops = drop_place::on_o; });
  }
  for (auto const& [name, place] :
       {std::pair{"sink by a sigmoid", sink_place::sigmoid}, {"sink by exp(LSE - LSE')", sink_place::by_lse}}) {
    add(name, "f32", [&](auto& k) { k.softmax = online, k.sink = place; });
    add(std::string(name) + ", base 2", "f32",
        [&](auto& k) { k.softmax = online, k.scores = score_form::base_2, k.sink = place; });
    add(std::string(name) + ", one part in many", "f32-any", [&](auto& k) { k.softmax = one_level, k.sink = place; });
    add(std::string(name) + ", two passes", "f32", [&](auto& k) { k.sink = place, k.returns_weights = true; });
    add(std::string(name) + ", flushing", "f32",
        [&](auto& k) { k.how.flushes = true, k.softmax = online, k.sink = place; });
    add(std::string(name) + ", dropout", "f32",
        [&](auto& k) { k.softmax = online, k.drops = drop_place::on_p, k.sink = place; });
    add(name, "bf16", [&](auto& k) { k.how.narrow = bf16, k.softmax = online, k.sink = place; });
    add(name, "f16", [&](auto& k) { k.how.narrow = f16, k.softmax = online, k.sink = place; });
    add(std::string(name) + ", in 16 bits", "bf16",
        [&](auto& k) { k.how.narrow = bf16, k.softmax = online, k.sink = place, k.narrow_factor = true; });
    add(std::string(name) + ", in 16 bits", "f16",
        [&](auto& k) { k.how.narrow = f16, k.softmax = online, k.sink = place, k.narrow_factor = true; });
    add(std::string(name) + ", in 16 bits, flushing", "f16-ftz", [&](auto& k) {
      k.how.narrow = f16, k.how.flushes_narrow = true, k.softmax = online, k.sink = place, k.narrow_factor = true;
    });
    for (double const cutoff : {8.0, 20.0})
      add(std::string(name) + ", exp cut at " + (cutoff < 10 ? "8" : "20"), "f32 tight",
          [&](auto& k) { k.how.cutoff = cutoff, k.softmax = online, k.sink = place; });
    add(name, "tight", [&](auto& k) { k.softmax = online, k.sink = place; });
  }
  for (double const skips : {4.0, 8.0, 20.0})
    add("blocks skipped at " + std::to_string(static_cast<int>(skips)), "f32 tight",
        [&](auto& k) { k.softmax = online, k.skips = skips, k.most_keys = 40; });
  for (auto const& [name, place] : {std::pair{"sink from the start", sink_place::first},
                                    {"sink last", sink_place::last},
                                    {"sink at the end", sink_place::end},
                                    {"sink as a column", sink_place::column}})
    add(name, "tight", [&](auto& k) { k.softmax = online, k.sink = place; });
  add("sink as a column, two passes", "tight", [](auto& k) { k.sink = sink_place::column, k.returns_weights = true; });
  add("sink at the end, two passes", "tight", [](auto& k) { k.sink = sink_place::end, k.returns_weights = true; });
  for (auto const& [name, place] : {std::pair{"dropout on P", drop_place::on_p},
                                    {"dropout on P, divided", drop_place::divided},
                                    {"dropout on V", drop_place::on_v},
                                    {"dropout on O", drop_place::on_o}})
    add(name, "tight", [&](auto& k) { k.softmax = online, k.drops = place; });
  return all;
}

}  // namespace attest::tests
