// The pictures of a report as SVG: heatmaps and curves. Colours are classes of the page's style sheet (html_style.hpp),
// so that a picture follows its page into the dark; no picture speaks by colour alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/report/pictures.hpp"

namespace attest::audit {

/// What the cells of a heatmap are.
enum class cells : std::uint8_t {
  weights,  ///< in [0, 1]: nine levels of size
  keys,     ///< 0 or 1
  errors,   ///< in units of the bound: levels by decade, a cross above 1
};

/// Queries down, keys or columns across. `masked` cells (of weights and keys) are hatched; what cannot be is crossed:
/// a weight at a masked key, outside [0, 1] or NaN, an error above its bound. Up to 8 × 8 cells carry their numbers.
/// `describes` is read out in place of the picture.
std::string heatmap_svg(matrix_picture const& picture, cells kind, std::vector<bool> const& masked,
                        std::string_view title, std::string_view describes, std::string_view columns);

/// The width of that heatmap, in CSS pixels.
double heatmap_width(matrix_picture const& picture, cells kind);

/// A point of a curve, at a positive place. error_in_bounds may be 0 or infinite (not NaN): then it lies on the edge.
struct plot_point {
  double place = 0, error_in_bounds = 0;
  bool failed = false;
};

/// One curve a kernel: `style` 0 … 5 chooses its colour, dashes and marker.
struct plot_line {
  std::string name;
  int style = 0;
  std::vector<plot_point> points;
};

/// Worst error in units of the bound, on logarithmic axes, with the bound drawn at 1.
std::string curve_svg(std::string_view axis, std::vector<plot_line> const& lines);

/// The line and marker of a style, for a legend.
std::string legend_svg(int style);

}  // namespace attest::audit
