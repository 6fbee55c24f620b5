#include "audit/cause/score_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "audit/cause/score_arithmetic.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

class rows_read {
 public:
  rows_read(problem::element_type type, problem::sizes const& size) : type_(type), size_(size) {}

  problem::sizes const& size() const { return size_; }

  /// Asks rows with distances 2⁻¹² · whole numbers between least and most. Returns false without an answer.
  bool ask(double least, double most, std::uint64_t seed, problem_asker const& ask) {
    problem_draft draft;
    draft.q = owned_tensor::compact(type_, {size_.b, size_.hq, size_.n, size_.d});
    draft.k = owned_tensor::compact(type_, {size_.b, size_.hk, size_.m, size_.d});
    draft.v = owned_tensor::compact(type_, {size_.b, size_.hk, size_.m, size_.dv});
    std::int64_t const rows = std::min(size_.n, size_.d / 2), m = size_.m;
    double const sigma = 1 / std::sqrt(static_cast<double>(size_.d));
    problem::binary_format const& format = problem::row_of(type_).format;
    std::vector<read_row> made(static_cast<std::size_t>(rows));
    random_stream random(seed, "rows of chosen scores");
    double x = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      auto& row = made[static_cast<std::size_t>(r)];
      row.at_end = r / 2 % 2 != 0;
      if (r % 2 == 0) x = std::ldexp(std::round(std::ldexp(least + (most - least) * random.uniform(), 12)), -12);
      double const a = std::ldexp(std::round(std::ldexp(1 + 6 * random.uniform(), 12)), -12);
      row.first = a, row.second = a - x;
    }
    double const none = -std::min(1000 + most, type_ == problem::element_type::f16 ? 60000 * sigma : 1e30);
    for (std::int64_t b = 0; b < size_.b; ++b) {
      for (std::int64_t h = 0; h < size_.hq; ++h)
        for (std::int64_t i = 0; i < size_.n; ++i)
          for (std::int64_t t = 0; t < 2; ++t)
            store(draft.q, offset_of(draft.q, b, h, i, i % std::max<std::int64_t>(rows, 1) * 2 + t), 1);
      for (std::int64_t h = 0; h < size_.hk; ++h)
        for (std::int64_t j = 0; j < m; ++j) {
          for (std::int64_t r = 0; r < rows; ++r) {
            auto& row = made[static_cast<std::size_t>(r)];
            std::int64_t const first = row.at_end ? m - 2 : 0;
            double& score = j == first ? row.first : row.second;
            bool const one = j == first || j == first + 1;
            double const high = rounded_to((one ? score : none) / sigma, format),
                         low = one ? rounded_to(score / sigma - high, format) : 0;
            store(draft.k, offset_of(draft.k, b, h, j, 2 * r), high);
            store(draft.k, offset_of(draft.k, b, h, j, 2 * r + 1), low);
            if (one && b == 0 && h == 0) score = (high + low) * sigma;
          }
          for (std::size_t c = 0; c < read_columns; ++c) {
            double const v = j == 0 || j == m - 2   ? columns_of_first[c]
                             : j == 1 || j == m - 1 ? columns_of_second[c]
                                                    : 0;
            store(draft.v, offset_of(draft.v, b, h, j, static_cast<std::int64_t>(c)), v);
          }
        }
    }
    auto const outputs = ask(owned_problem::of_valid(std::move(draft)));
    if (!outputs || !outputs->o) return false;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < read_columns; ++c)
        made[static_cast<std::size_t>(r)].got[c] = load(*outputs->o, static_cast<std::size_t>(r * size_.dv) + c);
      rows_.push_back(made[static_cast<std::size_t>(r)]);
    }
    return true;
  }

  std::vector<read_row> const& rows() const { return rows_; }

  /// How far a kernel of this unit roundoff may be off in a row, relative.
  double tolerance(read_row const& row, double unit) const {
    return unit * (32 + 8 * (std::abs(row.first) + std::abs(row.second)));
  }

  /// Is every element what `by` predicts? Elements near to where one of its roundings flips are left out.
  bool fits(arithmetic const& by, double unit) const {
    std::size_t counted = 0;
    for (read_row const& row : rows_) {
      double const off = tolerance(row, unit);
      for (std::size_t c = 0; c < read_columns; ++c) {
        double const below = predicted(by, row, c, -off), above = predicted(by, row, c, off);
        double const low = std::min(below, above), high = std::max(below, above);
        if (high - low > 4 * off * high) continue;
        double const least = by.outputs(low * (1 - off)), most = by.outputs(high * (1 + off));
        if (by.outputs.to && least != most) continue;
        ++counted;
        if (!(row.got[c] >= least && row.got[c] <= most)) return false;
      }
    }
    return counted >= rows_.size() && counted >= least_counted;
  }

 private:
  static constexpr std::size_t least_counted = 48;
  problem::element_type type_;
  problem::sizes size_;
  std::vector<read_row> rows_;
};

struct named_format {
  char const* name;
  problem::element_type type;
  problem::binary_format const* format;
};
std::array<named_format, 2> const& narrow() {
  using problem::element_type;
  static std::array<named_format, 2> const both{
      named_format{"f16", element_type::f16, &problem::row_of(element_type::f16).format},
      named_format{"bf16", element_type::bf16, &problem::row_of(element_type::bf16).format}};
  return both;
}

/// What a right kernel of the type may do.
std::vector<arithmetic> right_ones(problem::element_type type) {
  problem::binary_format const& own = problem::row_of(type).format;
  if (own.bits() > 16) return {{}};
  std::vector<arithmetic> all(3);
  for (arithmetic& one : all) one.outputs = {&own};
  all[1].weights = all[2].weights = {&own}, all[2].divides_first = true;
  return all;
}

std::vector<arithmetic> wrong_ones(problem::element_type type) {
  std::vector<arithmetic> all;
  for (arithmetic const& right : right_ones(type)) {
    for (auto const& [name, of, format] : narrow()) {
      auto const add = [&, word = name](char const* form, auto const& change) {
        arithmetic made = right;
        made.name = fmt::format(fmt::runtime(form), word);
        change(made);
        all.push_back(std::move(made));
      };
      step const nearest{format}, cut{format, true};
      bool const own = of == type;
      if (!own) {
        add("weights-in-{}", [&](auto& made) { made.weights = nearest; });
        add("weights-in-{}", [&](auto& made) { made.weights = nearest, made.divides_first = true; });
        add("outputs-in-{}", [&](auto& made) { made.outputs = nearest; });
      }
      add("weights-cut-to-{}", [&](auto& made) { made.weights = cut; });
      if (problem::size_of(type) > 2 || own) add("outputs-cut-to-{}", [&](auto& made) { made.outputs = cut; });
      add("sum-of-{}-weights", [&](auto& made) { made.weights = made.summed = nearest; });
      add("sum-of-{}-weights", [&](auto& made) { made.summed = nearest; });
      for (bool const base_2 : {false, true}) {
        add("scores-in-{}", [&](auto& made) { made.scores = nearest, made.base_2 = base_2; });
        add("scores-and-sums-in-{}", [&](auto& made) { made.scores = made.sums = nearest, made.base_2 = base_2; });
      }
      add("sums-in-{}", [&](auto& made) { made.sums = nearest; });
    }
  }
  return all;
}

/// Of float64: does every element have at most the bits of a float32?
bool are_floats(std::vector<read_row> const& rows) {
  return std::ranges::all_of(rows, [](read_row const& row) {
    return std::ranges::all_of(row.got, [](double x) { return x == static_cast<double>(static_cast<float>(x)); });
  });
}

/// Weights that are wrong from some distance on, and right before.
void read_cut_off(rows_read const& from, double unit, seen_arithmetic& into) {
  constexpr double none = 1e300, clearly_wrong = 0.01;
  constexpr int least_right = 8;
  double last = 0, first = none, unclear = none, got = 0;
  int right = 0;
  for (read_row const& row : from.rows()) {
    double const off = from.tolerance(row, unit), weight = std::exp(-row.apart()), read = row.got[1] / row.got[0],
                 error = std::abs(read / weight - 1);
    if (!(std::abs(row.got[0] + row.got[1] - 1) <= 8 * off)) return;
    if (error <= 16 * off) last = std::max(last, row.apart()), ++right;
    else if (!(error > clearly_wrong)) unclear = std::min(unclear, row.apart());
    else if (row.apart() < first) first = row.apart(), got = read;
  }
  if (right < least_right || unclear < last) return;
  if (first == none || last >= first || std::exp(-first) < 0x1p-122) return;
  into[step_of_cutoff] = {
      fmt::format("weights below e^-x of the largest are {}, with x between {:.4g} and {:.4g}",
                  got == 0 ? "0" : fmt::format("wrong ({:.3g} at e^-{:.4g})", got, first), last, first),
      first};
}

/// An exponential that is off: it depends on the distance alone, and the weights sum to 1.
void read_exp(rows_read const& from, double unit, seen_arithmetic& into) {
  double most = 0, at = 0, got = 0;
  std::vector<read_row> const& rows = from.rows();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    read_row const& row = rows[r];
    double const off = from.tolerance(row, unit), ratio = row.got[1] / row.got[0];
    if (!(std::abs(row.got[0] + row.got[1] - 1) <= 8 * off) || !(ratio > 0)) return;
    double const error = std::abs(ratio / std::exp(-row.apart()) - 1);
    if (error > most) most = error, at = row.apart(), got = ratio;
    if (r % 2 == 1 && row.apart() == rows[r - 1].apart()) {
      double const other = rows[r - 1].got[1] / rows[r - 1].got[0];
      if (!(std::abs(ratio / other - 1) <= 8 * off + error / 4)) return;
    }
  }
  if (most > 0.5 || most < 64 * unit) return;
  into[step_of_exp] = {fmt::format("exp is off by up to {:.2g} of its value, or more: e^-{:.6g} is {:.9g}, not {:.9g}",
                                   most, at, got, std::exp(-at)),
                       most};
}

}  // namespace

bool confirms(seen_arithmetic const& seen, hypothesis const& tried) {
  auto const read = seen.find(tried.step);
  if (read == seen.end()) return false;
  double const number = read->second.number;
  switch (tried.bounds) {
    case threshold_of::distance: return tried.threshold <= number && tried.threshold >= number / 2 - 1;
    case threshold_of::error: return tried.threshold >= number / 2 && tried.threshold <= 16 * number;
    case threshold_of::nothing: break;
  }
  return true;
}

seen_arithmetic read_arithmetic(problem::element_type type, std::span<problem::sizes const> shapes,
                                problem_asker const& ask) {
  constexpr double half_unit_f32 = 0x1p-24, half_unit_f64 = 0x1p-53;
  seen_arithmetic seen;
  for (problem::sizes const& shape : shapes) {
    if (shape.m < 4 || shape.dv < static_cast<std::int64_t>(read_columns) || shape.d < 2 || shape.n < 1) continue;
    rows_read from(type, shape);
    if (!from.ask(0.05, 4, 0, ask)) continue;
    std::int64_t const rows = std::min(shape.n, shape.d / 2);
    double const far = type == problem::element_type::f16 ? 8 : 84;
    using range = std::array<double, 2>;
    std::array const ranges{range{0.05, 4}, range{4, std::min(far, 17.0)}, range{4, far}, range{0.75 * far, far}};
    for (std::uint64_t more = 1; more < 17 && std::ssize(from.rows()) < std::max<std::int64_t>(64, 4 * rows); ++more)
      from.ask(ranges[more % 4][0], ranges[more % 4][1], more, ask);
    double const unit = type == problem::element_type::f64 ? half_unit_f64 : half_unit_f32;
    for (arithmetic const& right : right_ones(type))
      if (from.fits(right, unit)) return seen;
    for (arithmetic const& wrong : wrong_ones(type))
      if (from.fits(wrong, half_unit_f32)) seen.try_emplace(wrong.name);
    if (seen.contains("scores-in-f16")) seen.try_emplace("contract-f16-scores");
    if (type == problem::element_type::f64 && from.fits({}, half_unit_f32))
      seen.try_emplace(are_floats(from.rows()) ? "contract-f64-in-f32" : "exp-of-float");
    if (seen.empty() && problem::size_of(type) > 2) {
      for (double const either : {unit, half_unit_f32}) {
        if (seen.empty()) read_cut_off(from, either, seen);
        if (seen.empty()) read_exp(from, either, seen);
      }
    }
    return seen;
  }
  return seen;
}

}  // namespace attest::audit
