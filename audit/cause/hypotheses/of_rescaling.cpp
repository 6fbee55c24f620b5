// Hypotheses about blocks of keys whose weights and sums stand beside different maxima, or are brought beside one by
// other factors.
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "problem/element_type.hpp"

namespace attest::audit {
namespace {

/// What a key's score gains: by the largest score before its block, up to the end of its block, and of the row.
using gain = double (*)(double before, double here, double most);

/// Every key of block t weighs e^(s + gain). O, l and the LSE are formed of these weights.
supposition gains(std::int64_t block, bool last_alone, gain of) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= block) return {};
    score_table const score(p);
    double gained = 0;
    return with_gains(call, [&](auto b, auto h, auto i, auto j) {
      if (j % block == 0) {
        double const before = score.largest(b, h, i, 0, j), here = score.largest(b, h, i, 0, j + block),
                     most = score.largest(b, h, i);
        bool const counts = std::isfinite(here) && std::isfinite(most) && (!last_alone || j + block >= m);
        gained = counts ? of(before, here, most) : 0;
      }
      return gained;
    });
  };
}

/// The weights are e^(s − before), and the sums before them are scaled by e^(before − here).
double beside_old(double before, double here, double) { return std::isfinite(before) ? here - before : 0; }
/// The sums are scaled by 2^(before − here), the weights are e^(s − here).
double in_base_2(double, double here, double most) { return (here - most) * (std::numbers::ln2 - 1); }

/// The sums are scaled by e^(here − before), not e^(before − here).
double inverted(double, double here, double most) { return 2 * (most - here); }

/// The factor e^(old − new) of O and l is rounded to a format.
supposition rounds_factors(problem::binary_format const& format, std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= block) return {};
    score_table const score(p);
    std::vector<double> gained(static_cast<std::size_t>((m + block - 1) / block));
    return with_gains(call, [&](auto b, auto h, auto i, auto j) {
      if (j == 0) {
        double later = 0, top = score.largest(b, h, i);
        for (std::size_t at = gained.size(); at-- > 0;) {
          double const here = score.largest(b, h, i, 0, (static_cast<std::int64_t>(at) + 1) * block);
          if (std::isfinite(here) && std::isfinite(top) && here < top) {
            double const factor = rounded_to(std::exp(here - top), format);
            constexpr double lost = -1000;  // a factor of 0 leaves no weight
            later += factor > 0 ? std::log(factor) - (here - top) : lost;
            top = here;
          }
          gained[at] = later;
        }
      }
      return gained[static_cast<std::size_t>(j / block)];
    });
  };
}

/// Parts of the keys are merged by their sums alone: O = Σ O_s/Σ l_s, without the weights e^(m_s − m). The LSE is
/// right. The first key of the part of key j, and the key behind its last.
using part_of_key = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t j, std::int64_t m)>;
supposition merges_by_sums(part_of_key part) {
  return [part = std::move(part)](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m < 2 || part(0, m).second >= m || !call.outputs.o) return {};
    score_table const score(p);
    problem_draft draft = p.draft();
    double beside = 0;
    set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
      if (auto const [first, end] = part(j, m); j == first) {
        beside = score.largest(b, h, i, first, end);
        if (!std::isfinite(beside)) beside = 0;
      }
      return bias_of(p, b, h, i, j) - beside;
    });
    answered_call output = call, lse = call;
    output.outputs.lse.reset(), output.outputs.weights.reset(), lse.outputs.o.reset(), lse.outputs.weights.reset();
    auto supposed = with_problem(output, std::move(draft));
    if (!supposed.empty() && lse.outputs.lse) supposed.push_back(std::move(lse));
    return supposed;
  };
}

void add_merges_by_sums(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::lse);
  for (std::int64_t const keys : {64, 128, 256, 512, 1024})
    add(fmt::format("parts-of-{}-keys-merged-by-sums", keys),
        fmt::format("parts of {} keys are merged by their sums, without exp of their maxima, and the LSE is right",
                    keys),
        merges_by_sums(
            [=](std::int64_t j, std::int64_t) { return std::pair(j / keys * keys, j / keys * keys + keys); }));
  for (std::int64_t const parts : {2, 4, 8})
    add(fmt::format("{}-parts-merged-by-sums", parts),
        fmt::format("{} parts of the keys are merged by their sums, without exp of their maxima, and the LSE is right",
                    parts),
        merges_by_sums([=](std::int64_t j, std::int64_t m) {
          std::int64_t at = 0;
          while (m * (at + 1) / parts <= j) ++at;
          return std::pair(m * at / parts, m * (at + 1) / parts);
        }));
}

}  // namespace

void add_hypotheses_of_rescaling(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_rounded = adds_problems_to(to, bug_class::low_precision);
  for (std::int64_t const block : {1, 8, 16, 32, 64, 128}) {
    add(fmt::format("rescaled-in-base-2-{}", block),
        fmt::format("O and l are rescaled by 2^x where the weights are e^x, in blocks of {} keys", block),
        gains(block, false, in_base_2));
    add(fmt::format("rescaled-inversely-{}", block),
        fmt::format("O and l are multiplied by e^(new - old) when the maximum moves, in blocks of {} keys", block),
        gains(block, false, inverted));
    add(fmt::format("weights-beside-old-maximum-{}", block),
        fmt::format("the weights of a block are formed beside the maximum before it, and O and l are rescaled to the "
                    "new one, in blocks of {} keys",
                    block),
        gains(block, false, beside_old));
    add(fmt::format("last-weights-beside-old-maximum-{}", block),
        fmt::format("the weights of the last block are formed beside the maximum before it, and O and l are rescaled "
                    "to the new one, in blocks of {} keys",
                    block),
        gains(block, true, beside_old));
    for (auto const& [name, format] :
         {std::pair{"f16", problem::format_of<problem::f16>}, std::pair{"bf16", problem::format_of<problem::bf16>}})
      add_rounded(
          fmt::format("rescaled-in-{}-{}", name, block),
          fmt::format("the factor by which O and l are rescaled is rounded to {}, in blocks of {} keys", name, block),
          rounds_factors(format, block));
  }
  add_merges_by_sums(to);
}

}  // namespace attest::audit
