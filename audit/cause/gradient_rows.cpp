#include "audit/cause/gradient_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

/// What one pair shows.
struct read_pair {
  double score = 0, value = 0, lse = 0, delta = 0;  ///< s_j, v_j, and the LSE and Δ that were handed over
  double weight = 0, dS = 0;                        ///< as the kernel has them
  double right() const { return std::exp(score - lse); }
  /// How far a kernel of this unit roundoff may be off in a weight, relative.
  double tolerance(double unit) const { return unit * (32 + 8 * (std::abs(score) + std::abs(lse))); }
};

double on_grid(double x) { return std::ldexp(std::round(std::ldexp(x, 4)), -4); }

/// The pairs of the first query of every head. Nothing without an answer.
std::vector<read_pair> read_pairs(problem::element_type type, problem::sizes const& s, problem_asker const& ask) {
  random_stream random(0, "backward passes of chosen numbers");
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {s.b, s.hq, s.n, s.d}),
  draft.k = owned_tensor::compact(type, {s.b, s.hk, s.m, s.d});
  draft.v = owned_tensor::compact(type, {s.b, s.hk, s.m, s.dv});
  draft.d_out = owned_tensor::compact(type, {s.b, s.hq, s.n, s.dv});
  double const sigma = 1 / std::sqrt(static_cast<double>(s.d));  // a power of two
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hk; ++h) {
      store(draft.q, offset_of(draft.q, b, h, 0, 0), 1), store(*draft.d_out, offset_of(*draft.d_out, b, h, 0, 0), 1);
      for (std::int64_t j = 0; j < s.m; ++j) {
        store(draft.k, offset_of(draft.k, b, h, j, 0), on_grid(2 * random.normal()) / sigma);
        store(draft.v, offset_of(draft.v, b, h, j, 0), on_grid(2 * random.normal()));
      }
    }
  draft.of = &problem::backward;
  owned_problem const asked = with_forward(owned_problem::of_valid(std::move(draft)));
  auto const outputs = ask(asked);
  if (!outputs || !outputs->dk || !outputs->dv) return {};
  problem_draft const& given = asked.draft();
  std::vector<read_pair> pairs;
  gradient_places const of_k(asked, output_kind::dk), of_v(asked, output_kind::dv);
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hk; ++h) {
      std::size_t const row = output_row(asked, b, h, 0);
      for (std::int64_t j = 0; j < s.m; ++j)
        pairs.push_back({.score = load(given.k, offset_of(given.k, b, h, j, 0)) * sigma,
                         .value = load(given.v, offset_of(given.v, b, h, j, 0)),
                         .lse = load(*given.handed_lse, row),
                         .delta = load(*given.handed_o, row * static_cast<std::size_t>(s.dv)),
                         .weight = load(*outputs->dv, of_v.row(b, h, j)),
                         .dS = load(*outputs->dk, of_k.row(b, h, j)) / sigma});
    }
  return pairs;
}

struct sixteen_bits {
  char const* name;
  problem::binary_format format;
  double unit() const { return problem::formats::power_of_two(-format.fraction_bits - 1); }
};

template <class Is>
bool every(std::vector<read_pair> const& pairs, Is const& is) {
  return std::ranges::all_of(pairs, is);
}

/// Does a step round to the format?
class read_steps {
 public:
  read_steps(std::vector<read_pair> const& pairs, double unit) : pairs_(pairs), unit_(unit) {}

  bool is_right() const {
    return every(pairs_,
                 [&](read_pair const& p) { return near(p.weight, p.right(), p) && dS_follows(p, p.weight, p.delta); });
  }
  bool weights_are_right() const {
    return every(pairs_, [&](read_pair const& p) { return near(p.weight, p.right(), p); });
  }

  void read(sixteen_bits const& to, seen_arithmetic& into) const {
    auto const rounded = [&](double x) { return rounded_to(x, to.format); };
    auto const add = [&](char const* form) { into.try_emplace(fmt::format(fmt::runtime(form), to.name)); };
    auto const fits = [&](double x) { return rounded(x) == x; };
    bool const narrow_weights =
                   every(pairs_, [&](auto const& p) { return fits(p.weight) && close(p.weight, p.right(), to, p); }),
               narrow_dS = every(pairs_, [&](auto const& p) { return fits(p.dS); });
    if (narrow_weights && narrow_dS) return add("gradients-in-{}");
    if (narrow_weights && every(pairs_, [&](auto const& p) { return dS_follows(p, p.weight, p.delta); }))
      return add("backward-weights-in-{}");
    if (narrow_weights) return add("dv-weights-in-{}");
    bool const right_weights = weights_are_right();
    if (narrow_dS && right_weights) return add("ds-in-{}");
    if (right_weights && every(pairs_, [&](auto const& p) { return dS_follows(p, p.weight, rounded(p.delta)); }))
      return add("delta-in-{}");
    if (every(pairs_, [&](auto const& p) { return near(p.weight, std::exp(p.score - rounded(p.lse)), p); }))
      add("handed-lse-in-{}");
  }

  /// The largest error of a weight, where the weights are off and dS follows them.
  double error_of_weights() const {
    double most = 0;
    for (read_pair const& p : pairs_) {
      if (!(p.weight > 0) || !dS_follows(p, p.weight, p.delta)) return 0;
      most = std::max(most, std::abs(p.weight / p.right() - 1));
    }
    return most < 0.5 && most >= 64 * unit_ ? most : 0;
  }

 private:
  bool near(double got, double expected, read_pair const& p) const {
    return std::abs(got - expected) <= p.tolerance(unit_) * std::abs(expected);
  }
  bool close(double got, double expected, sixteen_bits const& to, read_pair const& p) const {
    return std::abs(got - expected) <= (p.tolerance(unit_) + to.unit()) * std::abs(expected);
  }
  /// dS = p̂(v − Δ)?
  bool dS_follows(read_pair const& p, double weight, double delta) const {
    double const size = weight * (std::abs(p.value) + std::abs(delta));
    return std::abs(p.dS - weight * (p.value - delta)) <= 16 * unit_ * size + p.tolerance(unit_) * std::abs(p.dS);
  }

  std::vector<read_pair> const& pairs_;
  double unit_;
};

}  // namespace

seen_arithmetic read_gradient_arithmetic(problem::element_type type, std::span<problem::sizes const> shapes,
                                         problem_asker const& ask) {
  seen_arithmetic seen;
  if (problem::size_of(type) < 4) return seen;  // its gradients have 16 bits
  for (problem::sizes const& shape : shapes) {
    auto const pairs = read_pairs(type, shape, ask);
    if (pairs.size() < 48) continue;
    read_steps const steps(pairs, type == problem::element_type::f64 ? 0x1p-53 : 0x1p-24);
    if (steps.is_right()) return seen;
    for (sixteen_bits const& to : {sixteen_bits{"f16", problem::format_of<problem::f16>},
                                   sixteen_bits{"bf16", problem::format_of<problem::bf16>}})
      steps.read(to, seen);
    if (double const error = steps.error_of_weights(); seen.empty() && error > 0)
      seen[step_of_gradient_exp] = {
          fmt::format("in the backward pass, weights e^(s - LSE) are off by up to {:.2g} of their value, or more",
                      error),
          error};
    return seen;
  }
  return seen;
}

}  // namespace attest::audit
