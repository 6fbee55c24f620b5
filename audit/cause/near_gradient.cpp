#include "audit/cause/near_gradient.hpp"

#include <cmath>
#include <limits>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

constexpr double unseen = -std::numeric_limits<double>::infinity();

class near_pass {
 public:
  explicit near_pass(answered_call const& of)
      : problem_(of.problem),
        p_(of.problem.draft()),
        s_(of.problem.size()),
        sigma_(sigma_of(of.problem)),
        kept_(p_.keep && p_.dropout > 0 ? 1 / (1 - p_.dropout) : 1),
        handed_(of.from == formed_from::handed_alone) {}

  std::int64_t group() const { return s_.hk > 0 ? s_.hq / s_.hk : 1; }

  double dot(owned_tensor const& a, std::int64_t ha, std::int64_t i, owned_tensor const& c, std::int64_t hc,
             std::int64_t j, std::int64_t b, std::int64_t width) const {
    double sum = 0;
    for (std::int64_t t = 0; t < width; ++t)
      sum += load(a, offset_of(a, b, ha, i, t)) * load(c, offset_of(c, b, hc, j, t));
    return sum;
  }

  struct pair {
    double score = unseen, slope = 1;
  };
  pair at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!sees(problem_, b, h, i, j)) return {};
    double x = sigma_ * dot(p_.q, h, i, p_.k, reference::key_head(s_, h), j, b, s_.d), slope = 1;
    if (p_.softcap > 0) {
      double const t = std::tanh(x / p_.softcap);
      x = p_.softcap * t, slope = 1 - t * t;
    }
    return {x + bias_of(problem_, b, h, i, j), slope};
  }

  double product(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (p_.keep && element(*p_.keep, b, h, i, j) == 0) return 0;
    return kept_ * dot(*p_.d_out, h, i, p_.v, reference::key_head(s_, h), j, b, s_.dv);
  }

  struct row {
    double lse = unseen, delta = 0;
  };
  row of_row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    row found;
    if (handed_) {
      std::size_t const place = output_row(problem_, b, h, i);
      found.lse = load(*p_.handed_lse, place);
      for (std::int64_t c = 0; c < s_.dv; ++c)
        found.delta += load(*p_.d_out, offset_of(*p_.d_out, b, h, i, c)) *
                       load(*p_.handed_o, place * static_cast<std::size_t>(s_.dv) + static_cast<std::size_t>(c));
      return found;
    }
    double most = p_.sink ? sink_of(p_, b, h) : unseen;
    for (std::int64_t j = 0; j < keys_of(problem_, b); ++j) most = std::max(most, at(b, h, i, j).score);
    if (most == unseen) return found;
    double sum = p_.sink ? std::exp(sink_of(p_, b, h) - most) : 0;
    for (std::int64_t j = 0; j < keys_of(problem_, b); ++j) {
      double const score = at(b, h, i, j).score;
      if (score == unseen) continue;
      double const weight = std::exp(score - most);
      sum += weight, found.delta += weight * product(b, h, i, j);
    }
    found.lse = most + std::log(sum), found.delta /= sum;
    return found;
  }

  /// dS, and through `x` also dX; through `weight` p.
  struct term {
    double weight = 0, dS = 0, dX = 0;
  };
  term of_pair(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, row const& of) const {
    pair const found = at(b, h, i, j);
    if (found.score == unseen || of.lse == unseen) return {};
    term made{.weight = std::exp(found.score - of.lse)};
    made.dS = made.weight * (product(b, h, i, j) - of.delta), made.dX = made.dS * found.slope;
    return made;
  }

  double dq(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t t) const {
    row const of = of_row(b, h, i);
    double sum = 0;
    for (std::int64_t j = 0; j < keys_of(problem_, b); ++j)
      sum += of_pair(b, h, i, j, of).dX * load(p_.k, offset_of(p_.k, b, reference::key_head(s_, h), j, t));
    return sigma_ * sum;
  }

  /// f(h, i, the term) over all rows that read the key.
  template <class F>
  void each_row_of_key(std::int64_t b, std::int64_t g, std::int64_t j, F const& f) const {
    for (std::int64_t h = g * group(); h < (g + 1) * group(); ++h)
      for (std::int64_t i = 0; i < queries_of(problem_, b); ++i)
        if (sees(problem_, b, h, i, j)) f(h, i, of_pair(b, h, i, j, of_row(b, h, i)));
  }

  double dk(std::int64_t b, std::int64_t g, std::int64_t j, std::int64_t t) const {
    double sum = 0;
    each_row_of_key(b, g, j,
                    [&](auto h, auto i, term const& of) { sum += of.dX * load(p_.q, offset_of(p_.q, b, h, i, t)); });
    return sigma_ * sum;
  }

  double dv(std::int64_t b, std::int64_t g, std::int64_t j, std::int64_t c) const {
    double sum = 0;
    each_row_of_key(b, g, j, [&](auto h, auto i, term const& of) {
      if (!p_.keep || element(*p_.keep, b, h, i, j) != 0)
        sum += kept_ * of.weight * load(*p_.d_out, offset_of(*p_.d_out, b, h, i, c));
    });
    return sum;
  }

  bool sees_nothing_at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    for (std::int64_t j = 0; j < keys_of(problem_, b); ++j)
      if (sees(problem_, b, h, i, j)) return false;
    return true;
  }

  /// Over the rows that share one of the tensor's: key j, or the sink.
  double shared(output_kind which, std::array<std::int64_t, 4> const& at) const {
    auto const shape = gradient_places(problem_, which).shape();
    bool const of_sink = which == output_kind::dsink;
    double sum = 0;
    for (std::int64_t b = 0; b < s_.b; ++b)
      for (std::int64_t h = 0; h < s_.hq; ++h)
        for (std::int64_t i = 0; i < queries_of(problem_, b); ++i) {
          bool const mine = (shape[0] == 1 || b == at[0]) && (shape[1] == 1 || h == at[1]) &&
                            (of_sink || shape[2] == 1 || i == at[2]);
          if (!mine || (!of_sink && !sees(problem_, b, h, i, at[3]))) continue;
          if (of_sink && sees_nothing_at(b, h, i)) continue;
          row const of = of_row(b, h, i);
          if (of.lse == unseen) continue;
          sum += of_sink ? -std::exp(sink_of(p_, b, h) - of.lse) * of.delta : of_pair(b, h, i, at[3], of).dS;
        }
    return sum;
  }

 private:
  owned_problem const& problem_;
  problem_draft const& p_;
  problem::sizes const& s_;
  double sigma_, kept_;
  bool handed_;
};

}  // namespace

double near_gradient(answered_call const& pass, output_kind which, std::array<std::int64_t, 4> const& at) {
  near_pass const of(pass);
  auto const& [b, h, i, x] = at;
  switch (which) {
    case output_kind::dq: return of.dq(b, h, i, x);
    case output_kind::dk: return of.dk(b, h, i, x);
    case output_kind::dv: return of.dv(b, h, i, x);
    default: return of.shared(which, at);
  }
}

}  // namespace attest::audit
