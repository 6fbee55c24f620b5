#include "audit/cases/forms/value_forms.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

problem::sizes sizes_of(problem_draft const& p) {
  auto const &q = p.q.layout.shape, &k = p.k.layout.shape;
  return {q[0], q[1], k[1], q[2], k[2], q[3], p.v.layout.shape[3]};
}

/// Equal weights at the visible keys. In the column c of V, D keys of its own hold 2^0 … 2^(D−1), so that O = (Σ
/// 2^digit)/count tells which of them count and how often; the keys are drawn anew for each head. The last column is
/// constant. Lost keys whose values are 0 everywhere show in the count alone.
void set_digits(problem_draft& p, random_stream& random) {
  problem::sizes const s = sizes_of(p);
  std::int64_t const digits = p.q.type == problem::element_type::bf16 ? 5 : 6;
  fill_normal(p.k, random, 1);
  if (s.dv == 0 || s.m == 0) return;
  std::vector<std::int64_t> keys(static_cast<std::size_t>(s.m));
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hk; ++h) {
      for (std::int64_t j = 0; j < s.m; ++j) {
        keys[static_cast<std::size_t>(j)] = j;
        store(p.v, offset_of(p.v, b, h, j, s.dv - 1), 1 + 0x1p-9 + 0x1p-20);
      }
      std::int64_t const shown = std::min(s.m, (s.dv - 1) * digits);
      for (std::int64_t at = 0; at < shown; ++at) {
        // The last key and the first come first, the others in a random order.
        std::int64_t const other = at == 0 ? s.m - 1 : at + random.below(s.m - at);
        std::swap(keys[static_cast<std::size_t>(at)], keys[static_cast<std::size_t>(other)]);
        store(p.v, offset_of(p.v, b, h, keys[static_cast<std::size_t>(at)], at / digits),
              std::ldexp(1.0, static_cast<int>(at % digits)));
      }
    }
}

/// q_i = 2·k_t, where key t is the first, the last, at the band's edge, or drawn. For d ≥ 32 its score 2√d is far above
/// the other scores, 2·N(0, 1). So O is nearly row t of V, whose columns are Gaussian.
void set_pointed(problem_draft& p, random_stream& random) {
  problem::sizes const s = sizes_of(p);
  fill_normal(p.k, random, 1);
  fill_normal(p.v, random, 1);
  if (s.m == 0) return;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) {
        auto const clamped = [&](std::int64_t j) { return std::clamp<std::int64_t>(j, 0, s.m - 1); };
        std::int64_t const last = p.band.right >= 0 ? clamped(i + p.band.diagonal + p.band.right) : s.m - 1;
        std::int64_t const first = p.band.left >= 0 ? clamped(i + p.band.diagonal - p.band.left) : 0;
        std::int64_t const choice = random.below(6);
        std::int64_t const target = choice == 0   ? first
                                    : choice == 1 ? last
                                                  : std::min(first, last) + random.below(std::abs(last - first) + 1);
        std::size_t const from = offset_of(p.k, b, h / (s.hq / s.hk), target, 0), to = offset_of(p.q, b, h, i, 0);
        problem::with_type(p.q.type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
          for (std::size_t t = 0; t < static_cast<std::size_t>(s.d); ++t)
            p.q.as<T>()[to + t] = nearest_element<T>(2 * number(p.k.as<T>()[from + t]));
        });
      }
}

/// Likewise, at keys where loops begin, end and split, as many as there is room for; nothing is drawn but K.
void set_edge_digits(problem_draft& p, random_stream& random) {
  problem::sizes const s = sizes_of(p);
  std::int64_t const digits = p.q.type == problem::element_type::bf16 ? 5 : 6;
  fill_normal(p.k, random, 1);
  if (s.dv == 0 || s.m == 0) return;
  std::vector<std::int64_t> keys;
  auto const add = [&](std::int64_t key) {
    bool const room = std::ssize(keys) < (s.dv - 1) * digits;
    if (room && key >= 0 && key < s.m && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  };
  for (std::int64_t const key : {s.m - 1, std::int64_t{0}, s.m / 2, s.m / 2 - 1, s.m - 2, s.m / 4}) add(key);
  for (std::int64_t power = 1 << 14; power > 0; power /= 2) add(power), add(power - 1);
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hk; ++h) {
      for (std::int64_t j = 0; j < s.m; ++j) store(p.v, offset_of(p.v, b, h, j, s.dv - 1), 1 + 0x1p-9 + 0x1p-20);
      for (std::size_t at = 0; at < keys.size(); ++at) {
        auto const place = static_cast<std::int64_t>(at);
        store(p.v, offset_of(p.v, b, h, keys[at], place / digits), std::ldexp(1.0, static_cast<int>(place % digits)));
      }
    }
}

/// The first column of V of the first key of each head is NaN. Without weight its score is −∞.
void set_nan(problem_draft& p, bool weightless) {
  problem::sizes const s = sizes_of(p);
  double const scale = p.scale.value_or(1);
  for (std::int64_t b = 0; b < s.b && s.m > 0; ++b) {
    for (std::int64_t h = 0; h < s.hk; ++h) {
      if (s.dv > 0) store(p.v, offset_of(p.v, b, h, 0, 0), std::nan(""));
      for (std::int64_t j = 0; weightless && s.d > 0 && j < s.m; ++j)
        store(p.k, offset_of(p.k, b, h, j, 0), j == 0 ? std::copysign(HUGE_VAL, -scale) : 0);
    }
    for (std::int64_t h = 0; weightless && s.d > 0 && h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) store(p.q, offset_of(p.q, b, h, i, 0), 8);
  }
}

/// q = (1, 0, …), k = (−24/scale or 0, 0, …). V of the far half is so large that what may underflow does not matter;
/// the answer is its weights.
void set_far_block(problem_draft& p, random_stream& random) {
  problem::sizes const s = sizes_of(p);
  if (s.d == 0) return;
  double const scale = p.scale.value_or(1 / std::sqrt(static_cast<double>(s.d)));
  double const large = p.q.type == problem::element_type::f16 ? 0x1p8 : 0x1p60;
  for (std::int64_t b = 0; b < s.b; ++b) {
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) store(p.q, offset_of(p.q, b, h, i, 0), 1);
    for (std::int64_t h = 0; h < s.hk; ++h)
      for (std::int64_t j = 0; j < s.m / 2; ++j) {
        store(p.k, offset_of(p.k, b, h, j, 0), -24 / scale);
        for (std::int64_t c = 0; c < s.dv; ++c) store(p.v, offset_of(p.v, b, h, j, c), large * (1 + random.uniform()));
      }
  }
}

}  // namespace

std::string_view name_of(value_form form) noexcept {
  switch (form) {
    case value_form::gaussian: return "gaussian";
    case value_form::digits: return "digits";
    case value_form::pointed: return "pointed";
    case value_form::edge_digits: return "edge-digits";
    case value_form::nan_value: return "NaN-in-V";
    case value_form::weightless_nan: return "NaN-in-V-of-weight-0";
    case value_form::far_block: return "scores-24-apart";
  }
  return "";
}

void fill_normal(owned_tensor& to, random_stream& random, double spread) {
  problem::with_type(to.type, problem::floating_elements{}, [&]<class T>(std::type_identity<T>) {
    T* const element = to.as<T>();
    for (std::size_t at = 0, all = to.spanned_elements(); at < all; ++at) {
      double const x = spread * random.nearly_normal();
      if constexpr (std::is_floating_point_v<T>) element[at] = static_cast<T>(x);
      else element[at] = nearest_element<T>(x);
    }
  });
}

void set_values(value_form form, problem_draft& to, random_stream& random) {
  switch (form) {
    case value_form::gaussian:
      fill_normal(to.q, random, 1);
      fill_normal(to.k, random, 1);
      fill_normal(to.v, random, 1);
      return;
    case value_form::digits: return set_digits(to, random);
    case value_form::pointed: return set_pointed(to, random);
    case value_form::edge_digits: return set_edge_digits(to, random);
    case value_form::nan_value:
    case value_form::weightless_nan:
      set_values(value_form::gaussian, to, random);
      return set_nan(to, form == value_form::weightless_nan);
    case value_form::far_block: return set_far_block(to, random);
  }
}

}  // namespace attest::audit
