#include "audit/report/svg/heatmap.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "audit/support/markup.hpp"

namespace attest::audit {
namespace {

constexpr int levels = 9;      ///< classes l0 … l8 of the style sheet
constexpr int over_bound = 9;  ///< class over: above the bound
constexpr int unknown = 10;    ///< class unknown: NaN, not judged, or no error
constexpr int shades = 11;

constexpr std::array<std::string_view, shades> shade_names{"l0", "l1", "l2", "l3",   "l4",     "l5",
                                                           "l6", "l7", "l8", "over", "unknown"};

/// The shade of weights grows with their square root, so that small ones can be seen. The shade of errors follows
/// decades below the bound. Requires nothing of x: a report from a file may hold any number.
int shade_of(double x, cells kind) {
  if (std::isnan(x) || (kind == cells::errors && x < 0)) return unknown;
  if (kind == cells::errors)
    return x > 1 ? over_bound : x == 0 ? 0 : std::clamp(5 + static_cast<int>(std::ceil(std::log10(x))), 1, 5);
  if (x < 0 || x > 1 + 0x1p-7) return over_bound;  // bfloat16 weights may round above 1
  return x == 0 ? 0 : std::clamp(static_cast<int>(std::ceil(std::sqrt(x) * (levels - 1))), 1, levels - 1);
}

/// At most four characters and a sign.
std::string short_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "∞" : "−∞";
  if (x == 0) return "0";
  double const size = std::abs(x);
  if (size >= 0.0095 && size < 9.995) return fmt::format("{:.2f}", x);
  if (size >= 9.995 && size < 9999.5) return fmt::format("{:.0f}", x);
  std::string text = fmt::format("{:.0e}", x);  // 3e-05 as 3e-5
  auto const e = text.find('e');
  return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

bool with_numbers(matrix_picture const& picture, cells kind) {
  return kind != cells::keys && picture.rows <= 8 && picture.columns <= 8;
}

struct grid {
  double cell_width = 38, cell_height = 26, left = 30, top = 22;

  grid(matrix_picture const& picture, cells kind) {
    if (with_numbers(picture, kind)) return;
    cell_width = cell_height =
        static_cast<double>(std::clamp<std::int64_t>(320 / std::max(picture.rows, picture.columns), 10, 20));
  }
  std::string cell(std::int64_t row, std::int64_t column, std::int64_t width) const {
    return fmt::format("M{:g} {:g}h{:g}v{:g}h-{:g}z", left + static_cast<double>(column) * cell_width,
                       top + static_cast<double>(row) * cell_height, static_cast<double>(width) * cell_width,
                       cell_height, static_cast<double>(width) * cell_width);
  }
  std::string cross(std::int64_t row, std::int64_t column) const {
    double const arm = 3, x = left + (static_cast<double>(column) + 0.5) * cell_width - arm;
    double const y = top + (static_cast<double>(row) + 0.5) * cell_height - arm;
    return fmt::format("M{:g} {:g}l{:g} {:g}m0 -{:g}l-{:g} {:g}", x, y, 2 * arm, 2 * arm, 2 * arm, 2 * arm, 2 * arm);
  }
};

/// The cells, as one path for each shade; neighbours in a row with the same shade are one rectangle.
void draw_cells(matrix_picture const& picture, cells kind, grid const& cell_grid, markup& to) {
  std::array<std::string, shades> paths;
  for (std::int64_t r = 0; r < picture.rows; ++r)
    for (std::int64_t c = 0, end; c < picture.columns; c = end) {
      int const shade = shade_of(picture.at(r, c), kind);
      for (end = c + 1; end < picture.columns && shade_of(picture.at(r, end), kind) == shade;) ++end;
      paths[static_cast<std::size_t>(shade)] += cell_grid.cell(r, c, end - c);
    }
  for (std::size_t shade = 0; shade < shades; ++shade)
    if (!paths[shade].empty()) to.leaf("path", {{"class", std::string(shade_names[shade])}, {"d", paths[shade]}});
}

void draw_ticks(matrix_picture const& picture, grid const& cell_grid, markup& to) {
  auto const tick = [&](double x, double y, char const* anchor, std::int64_t number) {
    to.element(
        "text",
        {{"class", "tick"}, {"x", fmt::format("{:g}", x)}, {"y", fmt::format("{:g}", y)}, {"text-anchor", anchor}},
        fmt::format("{}", number));
  };
  auto const label_step = [](std::int64_t count, double size) {
    return count > 16 ? 8 : count > 8 ? 4 : size < 16 ? 2 : 1;
  };
  for (std::int64_t c = 0; c < picture.columns; c += label_step(picture.columns, cell_grid.cell_width))
    tick(cell_grid.left + (static_cast<double>(c) + 0.5) * cell_grid.cell_width, cell_grid.top - 6, "middle",
         picture.first_column + c);
  for (std::int64_t r = 0; r < picture.rows; r += label_step(picture.rows, cell_grid.cell_height))
    tick(cell_grid.left - 6, cell_grid.top + (static_cast<double>(r) + 0.5) * cell_grid.cell_height + 4, "end",
         picture.first_row + r);
}

}  // namespace

double heatmap_width(matrix_picture const& picture, cells kind) {
  grid const cell_grid(picture, kind);
  return std::max(cell_grid.left + static_cast<double>(picture.columns) * cell_grid.cell_width + 6, 160.0);
}

std::string heatmap_svg(matrix_picture const& picture, cells kind, std::vector<bool> const& masked,
                        std::string_view title, std::string_view describes, std::string_view columns) {
  bool const numbers = with_numbers(picture, kind);
  grid const cell_grid(picture, kind);
  double const width = heatmap_width(picture, kind);
  double const height = cell_grid.top + static_cast<double>(picture.rows) * cell_grid.cell_height + 18;
  markup to;
  to.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"class", "heatmap"},
                  {"role", "img"},
                  {"viewBox", fmt::format("0 0 {:g} {:g}", width, height)},
                  {"width", fmt::format("{:g}", width)},
                  {"height", fmt::format("{:g}", height)}});
  to.element("title", title).element("desc", describes);
  draw_cells(picture, kind, cell_grid, to);
  auto const hidden_at = [&](std::int64_t r, std::int64_t c) {
    return !masked.empty() && masked[static_cast<std::size_t>(r * picture.columns + c)];
  };
  std::string hatched, crossed;
  for (std::int64_t r = 0; r < picture.rows; ++r)
    for (std::int64_t c = 0, end; c < picture.columns; c = std::max(end, c + 1)) {
      for (end = c; end < picture.columns && hidden_at(r, end);) ++end;
      if (end > c) hatched += cell_grid.cell(r, c, end - c);
    }
  if (!hatched.empty()) to.leaf("path", {{"class", "masked"}, {"d", hatched}});
  for (std::int64_t r = 0; r < picture.rows; ++r)
    for (std::int64_t c = 0; c < picture.columns; ++c) {
      double const x = picture.at(r, c);
      bool const hidden = hidden_at(r, c);
      bool const wrong =
          shade_of(x, kind) == over_bound || (kind != cells::errors && (std::isnan(x) || (hidden && x != 0)));
      if (wrong && !numbers) crossed += cell_grid.cross(r, c);
      if (!numbers || (hidden && x == 0)) continue;
      int const shade = shade_of(x, kind);
      to.element(
          "text",
          {{"class", shade == over_bound || (hidden && x != 0) ? "number wrong"
                     : shade >= 5 && shade < levels            ? "number light"
                                                               : "number"},
           {"x", fmt::format("{:g}", cell_grid.left + (static_cast<double>(c) + 0.5) * cell_grid.cell_width)},
           {"y", fmt::format("{:g}", cell_grid.top + (static_cast<double>(r) + 0.5) * cell_grid.cell_height + 4)},
           {"text-anchor", "middle"}},
          (wrong ? "×" : "") + short_number(x));
    }
  if (!crossed.empty())
    to.leaf("path", {{"class", "halo"}, {"d", crossed}}).leaf("path", {{"class", "cross"}, {"d", crossed}});
  to.leaf("rect", {{"class", "frame"},
                   {"x", fmt::format("{:g}", cell_grid.left)},
                   {"y", fmt::format("{:g}", cell_grid.top)},
                   {"width", fmt::format("{:g}", static_cast<double>(picture.columns) * cell_grid.cell_width)},
                   {"height", fmt::format("{:g}", static_cast<double>(picture.rows) * cell_grid.cell_height)}});
  draw_ticks(picture, cell_grid, to);
  to.element("text",
             {{"class", "tick"}, {"x", fmt::format("{:g}", cell_grid.left)}, {"y", fmt::format("{:g}", height - 4)}},
             columns.empty() ? "queries ↓" : fmt::format("queries ↓  {} →", columns));
  return std::move(to).finish();
}

}  // namespace attest::audit
