// Errors as SVG curves. Their colours are classes of the style sheet of the page (html/style.css), so that they follow
// its light or dark mode. Nothing is shown by colour alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attest::audit {

/// A point of a curve. place is positive and finite; error_in_bounds may be 0 or infinite, but not NaN: such a point is
/// drawn at the edge.
struct plot_point {
  double place = 0, error_in_bounds = 0;
  bool failed = false;
};

/// The curve of one kernel. `style` modulo 6 chooses its colour, dashes and marker.
struct plot_line {
  std::string name;
  int style = 0;
  std::vector<plot_point> points;
};

/// The worst errors in units of the bound, on logarithmic axes, with a line at the bound.
std::string curve_svg(std::string_view axis, std::vector<plot_line> const& lines);

/// The line and marker of a style, for a legend.
std::string legend_svg(int style);

}  // namespace attest::audit
