// A matrix as an SVG heatmap. Its colours are classes of the style sheet of the page (html/style.css), so that it
// follows the page's light or dark mode. Nothing is shown by colour alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report/pictures.hpp"

namespace attest::audit {

/// What the cells of a heatmap show.
enum class cells : std::uint8_t {
  weights,  ///< in [0, 1]: nine levels of size
  keys,     ///< 0 or 1
  errors,   ///< in units of the bound: levels by decade, a cross above 1
};

/// Rows are queries; columns are keys or columns of V. `masked` cells (of weights and keys) are hatched. A cross marks
/// an element that is certainly wrong: a weight of a masked key, outside [0, 1] or NaN, or an error above its bound. Up
/// to 8 × 8 cells show their numbers. `describes` is the text for screen readers.
std::string heatmap_svg(matrix_picture const& picture, cells kind, std::vector<bool> const& masked,
                        std::string_view title, std::string_view describes, std::string_view columns);

/// The width of the same heatmap, in CSS pixels.
double heatmap_width(matrix_picture const& picture, cells kind);

}  // namespace attest::audit
