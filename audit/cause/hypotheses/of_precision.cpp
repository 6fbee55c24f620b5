// Hypotheses about precision: a wider model, under which the answers would be certified.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "problem/element_type.hpp"

namespace attest::audit {
namespace {

using problem::kernel_model;
using problem::formats::power_of_two;

struct narrow_format {
  char const* name;
  problem::binary_format format;
  double unit() const { return power_of_two(-format.fraction_bits - 1); }
  /// Of one rounding in the range of underflow: gradual in f16, flushed in bf16, as the presets have it.
  double underflow() const {
    return power_of_two(format.exponent_bits < 8 ? format.smallest() - 1 : format.smallest_normal());
  }
  double limit() const { return power_of_two(format.above_largest()) * (1 - unit()); }
};

/// Weights are rounded, with this unit roundoff, before their product with V.
void round_weights(kernel_model& m, narrow_format const& to, double unit) {
  m.u_p = std::max(m.u_p, unit), m.omega_p = std::max(m.omega_p, to.underflow());
  m.p_limit = std::min(m.p_limit, to.limit());
  m.p_normalised = problem::normalised_first::unknown;
}
void round_outputs(kernel_model& m, narrow_format const& to, double unit) {
  m.u_out = std::max(m.u_out, unit), m.omega_out = std::max(m.omega_out, to.underflow());
  m.out_limit = std::min(m.out_limit, to.limit());
}
/// Scores are stored in a format, in base 2 perhaps.
void round_scores(kernel_model& m, narrow_format const& to) {
  m.u_s = std::max(m.u_s, to.unit()), m.omega_s = std::max(m.omega_s, to.underflow());
  m.s_limit = std::min(m.s_limit, power_of_two(to.format.above_largest()) * (1 - to.unit() / 2));
}
/// O and l are rounded between blocks of keys. A rounding of l, or of a sum of weights and values, is no larger than
/// one of each weight: the model has roundings of both as errors of exp, and roundings of O alone as ones of weights.
void round_sums(kernel_model& m, narrow_format const& to, double roundings = 1) {
  m.eps = std::max(m.eps, roundings * to.unit());
  m.u_p = std::max(m.u_p, roundings * to.unit()), m.omega_p = std::max(m.omega_p, to.underflow());
  m.p_normalised = problem::normalised_first::unknown;
}

}  // namespace

void add_hypotheses_of_precision(hypothesis_list& to) {
  using widening = std::function<void(kernel_model&)>;
  auto const adds = [&to](bug_class of_class) {
    return [&to, of_class](std::string step, std::string name, std::string sentence, widening widen) {
      to.push_back({.name = std::move(name),
                    .sentence = std::move(sentence),
                    .bug_class = of_class,
                    .kind = hypothesis_kind::precision,
                    .suppose = has_model(std::move(widen)),
                    .step = std::move(step)});
    };
  };
  auto const add_of_step = adds(bug_class::low_precision), add_exp = adds(bug_class::cheap_exp);
  auto const add = [&](std::string const& name, std::string sentence, widening widen) {
    add_of_step(name, name, std::move(sentence), std::move(widen));
  };
  auto const bounded = [&](threshold_of bounds, double threshold) {
    to.back().bounds = bounds, to.back().threshold = threshold;
  };
  std::vector<narrow_format> const formats{{"f16", problem::format_of<problem::f16>},
                                           {"bf16", problem::format_of<problem::bf16>}};
  // Those that widen the bounds of the fewest outputs come first.
  add("outputs-flushed", "outputs below the smallest normal number of their type become 0", [](kernel_model& m) {
    m.omega_out = std::max(m.omega_out, m.u_out > 0                      ? power_of_two(-14)
                                        : m.format.u > power_of_two(-30) ? power_of_two(-126)
                                                                         : power_of_two(-1022));
    m.flushes = true;
  });
  for (narrow_format const& format : formats) {
    add(fmt::format("weights-in-{}", format.name),
        fmt::format("weights are rounded to {} before their product with V", format.name),
        [=](kernel_model& m) { round_weights(m, format, format.unit()); });
    add(fmt::format("weights-cut-to-{}", format.name),
        fmt::format("weights are cut to {}, not rounded, before their product with V", format.name),
        [=](kernel_model& m) { round_weights(m, format, 2 * format.unit()); });
    add(fmt::format("outputs-in-{}", format.name), fmt::format("O is rounded to {}", format.name),
        [=](kernel_model& m) { round_outputs(m, format, format.unit()); });
    add(fmt::format("outputs-cut-to-{}", format.name), fmt::format("O is cut to {}, not rounded", format.name),
        [=](kernel_model& m) { round_outputs(m, format, 2 * format.unit()); });
  }
  for (narrow_format const& format : formats)
    add(fmt::format("sum-of-{}-weights", format.name),
        fmt::format("the sum of the weights adds up weights rounded to {}", format.name), [=](kernel_model& m) {
          round_weights(m, format, format.unit());
          m.eps = std::max(m.eps, format.unit());  // of the LSE
        });
  add_exp("exp-of-float", "exp-of-float", "exp has the precision of float32",
          [](kernel_model& m) { m.eps = std::max(m.eps, power_of_two(-23)), m.x0 = std::min(m.x0, 80.0); });
  for (int const digits : {21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6}) {
    add_exp(step_of_exp, fmt::format("exp-to-2^-{}", digits),
            fmt::format("exp has errors up to 2^-{} of its value", digits),
            [=](kernel_model& m) { m.eps = std::max(m.eps, power_of_two(-digits)); });
    bounded(threshold_of::error, power_of_two(-digits));
  }
  for (double const cutoff : {86.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 25.0, 20.0, 17.0, 15.0, 13.8,
                              12.0, 11.0, 10.0, 9.0,  8.0,  7.0,  6.0,  5.0,  4.0,  3.0,  2.0,  1.38}) {
    add_exp(step_of_cutoff, fmt::format("cutoff-{:g}", cutoff),
            fmt::format("weights below e^-{:g} of the largest are dropped, or wrong", cutoff),
            [=](kernel_model& m) { m.x0 = std::min(m.x0, cutoff); });
    bounded(threshold_of::distance, cutoff);
  }
  for (narrow_format const& format : formats) {
    add(fmt::format("scores-in-{}", format.name), fmt::format("scores are stored in {}", format.name),
        [=](kernel_model& m) { round_scores(m, format); });
    add(fmt::format("sums-in-{}", format.name),
        fmt::format("O and l between blocks of keys, or all weights, are rounded to {}", format.name),
        [=](kernel_model& m) { round_sums(m, format); });
    add(fmt::format("scores-and-sums-in-{}", format.name),
        fmt::format("scores, and O and l between blocks of keys, are rounded to {}", format.name),
        [=](kernel_model& m) { round_scores(m, format), round_sums(m, format); });
    // More blocks, more roundings.
    for (int const roundings : {2, 4}) {
      std::string const sums = fmt::format("sums-in-{}", format.name), both = "scores-and-" + sums;
      add_of_step(sums, fmt::format("{}-x{}", sums, roundings), "",
                  [=](kernel_model& m) { round_sums(m, format, roundings); });
      add_of_step(both, fmt::format("{}-x{}", both, roundings), "",
                  [=](kernel_model& m) { round_scores(m, format), round_sums(m, format, roundings); });
    }
  }
}

}  // namespace attest::audit
