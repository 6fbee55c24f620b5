// The gradients of both tiers and Arb's, at several widths: all enclose one exact number, so all must overlap.
#include "oracles/arb.hpp"

#include "reference/gradient/exact.hpp"
#include "tests/reference/gradient/dense.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mp.hpp"

namespace attest::tests::arb_test {
using oracles::arb_ball, oracles::arb_balls;
using reference::gradient, reference::gradient_index, reference::value_kind;

namespace {

/// Gradients in Arb's balls, of cases without a sink, lengths or dropout: dS = P∘slope∘(dP − Δ) row by row.
class arb_gradients {
 public:
  arb_gradients(gradient_case const& c, long bits)
      : c_(c), bits_(bits), dq_(c.q.size()), dk_(c.k.size()), dv_(c.v.size()), dbias_(c.bias.size()) {
    for (std::int64_t b = 0; b < c.size.b; ++b)
      for (std::int64_t h = 0; h < c.size.hq; ++h)
        for (std::int64_t i = 0; i < c.size.n; ++i) add_row(b, h, i);
  }

  arb_ball const& operator[](gradient_index const& of) const {
    auto const& s = c_.size;
    auto const& t = c_.bias_shape;
    switch (of.which) {
      case gradient::dq: return dq_[flat({s.b, s.hq, s.n, s.d}, of)];
      case gradient::dk: return dk_[flat({s.b, s.hk, s.m, s.d}, of)];
      case gradient::dv: return dv_[flat({s.b, s.hk, s.m, s.dv}, of)];
      default: return dbias_[flat(t, of)];
    }
  }

 private:
  static std::size_t flat(std::array<std::int64_t, 4> const& shape, gradient_index const& at) {
    return static_cast<std::size_t>(((at.b * shape[1] + at.h) * shape[2] + at.i) * shape[3] + at.x);
  }
  bool sees(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    auto const& band = c_.parameters.band;
    if (band.right >= 0 && j - (i + band.diagonal) > band.right) return false;
    if (!c_.mask.empty() && c_.mask[flat({c_.size.b, c_.size.hq, c_.size.n, c_.size.m}, {{}, b, h, i, j})] == 0)
      return false;
    return c_.bias.empty() || !std::isinf(c_.bias[bias_at(b, h, i, j)]);
  }
  std::size_t bias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    auto const& t = c_.bias_shape;
    return flat(t, {{}, t[0] == 1 ? 0 : b, t[1] == 1 ? 0 : h, t[2] == 1 ? 0 : i, j});
  }
  std::span<double const> row(std::vector<double> const& of, std::size_t number, std::int64_t width) const {
    return std::span(of).subspan(number * static_cast<std::size_t>(width), static_cast<std::size_t>(width));
  }
  void add_product(arb_ball& to, arb_ball const& x, double y) const {
    arb_ball factor;
    arb_set_d(factor.raw(), y);
    arb_addmul(to.raw(), x.raw(), factor.raw(), bits_);
  }

  void add_row(std::int64_t b, std::int64_t h, std::int64_t i) {
    auto const& s = c_.size;
    std::int64_t const g = h / (s.hq / s.hk);
    auto const of_row = flat({s.b, s.hq, s.n, 1}, {{}, b, h, i, 0});
    auto const q = row(c_.q, of_row, s.d), d_o = row(c_.d_o, of_row, s.dv);
    oracles::head head{0,  static_cast<std::size_t>(s.d), static_cast<std::size_t>(s.dv), {},
                       {}, c_.parameters.scale,           c_.parameters.softcap,          false};
    std::vector<std::size_t> keys, biases;  // rows of K and V, elements of the bias
    std::vector<double> bias;
    for (std::int64_t j = 0; j < s.m; ++j) {
      if (!sees(b, h, i, j)) continue;
      keys.push_back(flat({s.b, s.hk, s.m, 1}, {{}, b, g, j, 0}));
      std::ranges::copy(row(c_.k, keys.back(), s.d), std::back_inserter(head.k));
      std::ranges::copy(row(c_.v, keys.back(), s.dv), std::back_inserter(head.v));
      if (c_.bias.empty()) continue;
      biases.push_back(bias_at(b, h, i, j));
      bias.push_back(c_.bias[biases.back()]);
    }
    head.keys = keys.size();
    if (keys.empty()) return;
    oracles::arb_attention attention(head, bits_);
    attention.row(q, bias);
    arb_ball delta;
    std::vector<arb_ball> P, dP(keys.size());
    for (std::size_t n = 0; n < keys.size(); ++n) {
      P.push_back(attention.weight(n));
      auto const v = row(c_.v, keys[n], s.dv);
      for (std::size_t e = 0; e < v.size(); ++e) {
        arb_ball x;
        arb_set_d(x.raw(), d_o[e]);
        add_product(dP[n], x, v[e]);
        add_product(dv_[keys[n] * v.size() + e], P[n], d_o[e]);
      }
      arb_addmul(delta.raw(), P[n].raw(), dP[n].raw(), bits_);
    }
    for (std::size_t n = 0; n < keys.size(); ++n) {
      arb_ball dS;
      arb_sub(dS.raw(), dP[n].raw(), delta.raw(), bits_);
      arb_mul(dS.raw(), dS.raw(), P[n].raw(), bits_);
      if (!biases.empty()) arb_add(dbias_[biases[n]].raw(), dbias_[biases[n]].raw(), dS.raw(), bits_);
      auto const k = row(c_.k, keys[n], s.d);
      arb_ball const scaled = through_score(dS, q, k);
      for (std::size_t t = 0; t < k.size(); ++t) {
        add_product(dq_[of_row * k.size() + t], scaled, k[t]);
        add_product(dk_[keys[n] * k.size() + t], scaled, q[t]);
      }
    }
  }

  /// σ·dS, times the slope 1 − tanh²(x/c) of a softcap at x = σ·q·k.
  arb_ball through_score(arb_ball const& dS, std::span<double const> q, std::span<double const> k) const {
    arb_ball scale, x, cap;
    if (c_.parameters.scale) arb_set_d(scale.raw(), *c_.parameters.scale);
    else arb_set_si(scale.raw(), c_.size.d), arb_rsqrt(scale.raw(), scale.raw(), bits_);
    arb_balls const rows_q(q), rows_k(k);
    arb_dot(x.raw(), nullptr, 0, rows_q[0], 1, rows_k[0], 1, c_.size.d, oracles::arb_attention::exact_scores);
    arb_mul(x.raw(), x.raw(), scale.raw(), oracles::arb_attention::exact_scores);
    if (c_.parameters.softcap > 0) {
      arb_set_d(cap.raw(), c_.parameters.softcap);
      arb_div(x.raw(), x.raw(), cap.raw(), bits_);
      arb_sech(x.raw(), x.raw(), bits_);
      arb_mul(x.raw(), x.raw(), x.raw(), bits_);
      arb_mul(scale.raw(), scale.raw(), x.raw(), bits_);
    }
    arb_mul(scale.raw(), scale.raw(), dS.raw(), bits_);
    return scale;
  }

  gradient_case const& c_;
  slong bits_;
  std::vector<arb_ball> dq_, dk_, dv_, dbias_;
};

template <class T>
void require_overlap(gradient_case const& c, std::size_t& elements) {
  stored_case<T> const stored(c);
  REQUIRE(stored.instance);
  auto const inputs = stored.inputs();
  std::vector<gradient_index> indices;
  for (auto const& each : places(c)) indices.push_back(each.index);
  auto const narrow = reference::compiled::enclose_gradients<128>(*stored.instance, inputs, {}, indices);
  constexpr problem::kernel_model f32_model{
      .format = problem::formats::f32, .k_qk_base = 2, .eps = 0x1p-23, .eps_log = 0x1p-23};
  auto made = reference::gradient_source<T>::make(*stored.instance, inputs, f32_model, {}, {});
  REQUIRE(made);
  std::vector<reference::group_gradients> groups;
  for (std::int64_t b = 0; b < c.size.b; ++b)
    for (std::int64_t g = 0; g < c.size.hk; ++g) groups.push_back(made.value().group(b, g));
  // Arb far narrower than ours shows that ours contain the number; Arb far wider, that Arb does.
  arb_gradients const far_narrower(c, 400), far_wider(c, 64);
  for (std::size_t n = 0; n < indices.size(); ++n) {
    auto const& at = indices[n];
    INFO("gradient " << static_cast<int>(at.which) << " [" << at.b << ", " << at.h << ", " << at.i << ", " << at.x
                     << "]");
    REQUIRE(narrow[n].kind == value_kind::finite);
    for (arb_gradients const* const other : {&far_narrower, &far_wider}) {
      real const low = (*other)[at].low(), high = (*other)[at].high();
      CHECK(low <= middle(narrow[n].value) + radius(narrow[n].value));
      CHECK(middle(narrow[n].value) - radius(narrow[n].value) <= high);
    }
    ++elements;
    if (at.which == gradient::dbias) continue;
    bool const of_rows = at.which == gradient::dq;
    std::int64_t const heads = c.size.hq / c.size.hk, g = of_rows ? at.h / heads : at.h;
    auto const& group = groups[static_cast<std::size_t>(at.b * c.size.hk + g)];
    auto const& machine = of_rows                    ? group.dq_at(at.h - g * heads, at.i, at.x)
                          : at.which == gradient::dk ? group.dk_at(at.i, at.x)
                                                     : group.dv_at(at.i, at.x);
    CHECK(real(machine.lower) <= far_narrower[at].high());
    CHECK(far_narrower[at].low() <= real(machine.upper));
  }
}

/// Masks, causal bands, biases, softcaps, grouped heads and scales, in every combination.
template <class T>
void against_arb(std::uint64_t seed, unsigned step) {
  draw random(seed);
  std::size_t elements = 0;
  for (unsigned features = 0; features < 64; features += step) {
    unsigned const bits = (features & 15) | (features & 16) << 1 | (features & 32) << 3;
    auto const of = static_cast<family>(random.whole(0, static_cast<std::int64_t>(family::sharp)));
    CAPTURE(features, static_cast<int>(of));
    require_overlap<T>(drawn_case<T>(random, of, bits), elements);
  }
  CHECK(elements > 500);
}

}  // namespace

TEST_CASE("Arb agrees on gradients of f32", "[property][differential]") { against_arb<float>(1, 1); }
TEST_CASE("Arb agrees on gradients of f64", "[property][differential]") { against_arb<double>(2, 2); }
TEST_CASE("Arb agrees on gradients of bf16", "[property][differential]") { against_arb<problem::bf16>(3, 2); }
TEST_CASE("Arb agrees on gradients of f16", "[property][differential]") { against_arb<problem::f16>(4, 2); }

}  // namespace attest::tests::arb_test
