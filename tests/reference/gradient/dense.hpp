// The gradients of attention as matrices of 300 bits: P = softmax(S), dS = P∘dP − P·(row sums of P∘dP). It shares
// nothing with reference/ but the statement of the problem.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "tests/reference/gradient/drawn.hpp"

namespace attest::tests {

using wide =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<300, boost::multiprecision::digit_base_2>,
                                  boost::multiprecision::et_off>;

struct dense_gradients {
  std::vector<wide> dq, dk, dv, dbias, dsink, o, lse;  ///< [b, hq, n, ·], [b, hk, m, ·], the bias's shape, [hq]
};

/// With `o` and `lse` the function of these (local mode), else the gradients.
inline dense_gradients dense(gradient_case const& c, std::vector<double> const* o = nullptr,
                             std::vector<double> const* lse = nullptr) {
  auto const& s = c.size;
  dense_gradients r;
  auto const z = [](std::int64_t count) { return std::vector<wide>(static_cast<std::size_t>(count)); };
  r.dq = z(s.b * s.hq * s.n * s.d), r.dk = z(s.b * s.hk * s.m * s.d), r.dv = z(s.b * s.hk * s.m * s.dv);
  r.dbias = z(static_cast<std::int64_t>(c.bias.size())), r.dsink = z(static_cast<std::int64_t>(c.sink.size()));
  r.o = z(s.b * s.hq * s.n * s.dv), r.lse = z(s.b * s.hq * s.n);
  wide const sigma = c.parameters.scale ? wide(*c.parameters.scale) : 1 / sqrt(wide(s.d));
  wide const cap = c.parameters.softcap, kept = 1 / (1 - wide(c.keep.empty() ? 0.0 : c.parameters.dropout));
  auto const at = [](auto const& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < (c.q_lengths.empty() ? s.n : at(c.q_lengths, b)); ++i) {
        std::int64_t const g = h / (s.hq / s.hk), row = (b * s.hq + h) * s.n + i;
        std::int64_t const keys = c.k_lengths.empty() ? s.m : at(c.k_lengths, b);
        auto const bias_at = [&](std::int64_t j) {
          auto const& t = c.bias_shape;
          return (((t[0] == 1 ? 0 : b) * t[1] + (t[1] == 1 ? 0 : h)) * t[2] + (t[2] == 1 ? 0 : i)) * t[3] + j;
        };
        std::vector<std::int64_t> js;
        std::vector<wide> score, slope;
        bool real = false;
        for (std::int64_t j = 0; j < keys; ++j) {
          auto const& band = c.parameters.band;
          if (band.right >= 0 && j - (i + band.diagonal) > band.right) continue;
          if (!c.mask.empty() && at(c.mask, row * s.m + j) == 0) continue;
          if (!c.bias.empty() && std::isinf(at(c.bias, bias_at(j)))) continue;
          wide x = 0;
          for (std::int64_t t = 0; t < s.d; ++t)
            x += wide(at(c.q, row * s.d + t)) * wide(at(c.k, ((b * s.hk + g) * s.m + j) * s.d + t));
          x *= sigma;
          wide slope_of = 1;
          if (cap > 0) {
            wide const e = exp(-2 * abs(x) / cap), size = (1 - e) / (1 + e);
            slope_of = 1 / (cosh(x / cap) * cosh(x / cap));
            x = (x < 0 ? -size : size) * cap;
          }
          if (!c.bias.empty()) x += wide(at(c.bias, bias_at(j)));
          js.push_back(j), score.push_back(x), slope.push_back(slope_of), real = true;
        }
        if (!real) continue;
        bool const sink = !c.sink.empty() && !std::isinf(at(c.sink, h));
        if (sink) js.push_back(-1), score.push_back(wide(at(c.sink, h))), slope.push_back(1);
        wide most = score[0];
        for (auto const& x : score) most = x > most ? x : most;
        wide sum = 0;
        for (auto const& x : score) sum += exp(x - most);
        r.lse[static_cast<std::size_t>(row)] = most + log(sum);
        wide const L = lse ? wide(at(*lse, row)) : most + log(sum);
        std::vector<wide> P, dP;
        wide delta = 0;
        for (std::size_t n = 0; n < js.size(); ++n) {
          P.push_back(exp(score[n] - L)), dP.push_back(0);
          if (js[n] < 0) continue;
          wide const factor = c.keep.empty() ? wide(1) : at(c.keep, row * s.m + js[n]) != 0 ? kept : wide(0);
          for (std::int64_t e = 0; e < s.dv; ++e) {
            std::int64_t const value = ((b * s.hk + g) * s.m + js[n]) * s.dv + e;
            dP[n] += factor * wide(at(c.d_o, row * s.dv + e)) * wide(at(c.v, value));
            r.dv[static_cast<std::size_t>(value)] += factor * P[n] * wide(at(c.d_o, row * s.dv + e));
            r.o[static_cast<std::size_t>(row * s.dv + e)] += factor * P[n] * wide(at(c.v, value));
          }
          delta += P[n] * dP[n];
        }
        if (o) {
          delta = 0;
          for (std::int64_t e = 0; e < s.dv; ++e)
            delta += wide(at(c.d_o, row * s.dv + e)) * wide(at(*o, row * s.dv + e));
        }
        for (std::size_t n = 0; n < js.size(); ++n) {
          wide const dS = P[n] * dP[n] - P[n] * delta;
          if (js[n] < 0) {
            r.dsink[static_cast<std::size_t>(h)] += dS;
            continue;
          }
          if (!c.bias.empty()) r.dbias[static_cast<std::size_t>(bias_at(js[n]))] += dS;
          for (std::int64_t t = 0; t < s.d; ++t) {
            std::int64_t const key = ((b * s.hk + g) * s.m + js[n]) * s.d + t;
            r.dq[static_cast<std::size_t>(row * s.d + t)] += sigma * dS * slope[n] * wide(at(c.k, key));
            r.dk[static_cast<std::size_t>(key)] += sigma * dS * slope[n] * wide(at(c.q, row * s.d + t));
          }
        }
      }
  return r;
}

/// The elements of all gradients of a case, with their place in dense_gradients.
struct place {
  reference::gradient_index index;
  std::vector<wide> dense_gradients::* tensor;
  std::size_t at;
};
inline std::vector<place> places(gradient_case const& c) {
  using reference::gradient;
  std::vector<place> all;
  auto const& s = c.size;
  std::size_t at = 0;
  auto const rows = [&](reference::gradient which, std::vector<wide> dense_gradients::* tensor,
                        std::array<std::int64_t, 4> shape) {
    at = 0;
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t h = 0; h < shape[1]; ++h)
        for (std::int64_t i = 0; i < shape[2]; ++i)
          for (std::int64_t x = 0; x < shape[3]; ++x) all.push_back({{which, b, h, i, x}, tensor, at++});
  };
  rows(gradient::dq, &dense_gradients::dq, {s.b, s.hq, s.n, s.d});
  rows(gradient::dk, &dense_gradients::dk, {s.b, s.hk, s.m, s.d});
  rows(gradient::dv, &dense_gradients::dv, {s.b, s.hk, s.m, s.dv});
  if (!c.bias.empty()) rows(gradient::dbias, &dense_gradients::dbias, c.bias_shape);
  if (!c.sink.empty()) rows(gradient::dsink, &dense_gradients::dsink, {1, s.hq, 1, 1});
  return all;
}

}  // namespace attest::tests
