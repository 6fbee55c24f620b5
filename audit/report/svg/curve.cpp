#include "audit/report/svg/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "audit/support/markup.hpp"

namespace attest::audit {
namespace {

constexpr double left = 46, right = 352, top = 16, bottom = 188, width = 360, height = 226;
constexpr std::array<std::string_view, 6> dashes{"none", "7 3", "2 3", "9 3 2 3", "4 2", "12 3"};

std::string number(double x) { return fmt::format("{:.4g}", x); }

/// A marker of radius 4 that distinguishes lines without colour: circle, square, triangle, diamond, triangle pointing
/// down, bar.
std::string marker_path(int style, double x, double y) {
  switch (style % 6) {
    case 0: return fmt::format("M{:.1f} {:.1f}a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", x - 3.6, y);
    case 1: return fmt::format("M{:.1f} {:.1f}h6.6v6.6h-6.6z", x - 3.3, y - 3.3);
    case 2: return fmt::format("M{:.1f} {:.1f}l4 7h-8z", x, y - 4.2);
    case 3: return fmt::format("M{:.1f} {:.1f}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", x, y - 4.4);
    case 4: return fmt::format("M{:.1f} {:.1f}l4 -7h-8z", x, y + 4.2);
    default: return fmt::format("M{:.1f} {:.1f}h9v3h-9z", x - 4.5, y - 1.5);
  }
}

/// A logarithmic axis. Values beyond an end are drawn at that end.
struct log_axis {
  double low = 0, high = 1, from = 0, to = 1;  // logarithms at its ends; pixels at its ends
  double operator()(double log) const {
    return from + (to - from) * (std::clamp(log, low, high) - low) / std::max(high - low, 1e-9);
  }
};

/// 2^k: "2^k", or the number where 0 ≤ k ≤ 12.
std::string power_of_two(double log) {
  return log >= 0 && log <= 12 ? fmt::format("{:.0f}", std::exp2(log)) : fmt::format("2^{:g}", log);
}

void draw_axes(std::string_view axis, log_axis const& x, log_axis const& y, markup& to) {
  double const bound = y(0);
  to.leaf("rect", {{"class", "outside"},
                   {"x", number(left)},
                   {"y", number(top)},
                   {"width", number(right - left)},
                   {"height", number(bound - top)}});
  auto const label = [&](double at_x, double at_y, char const* anchor, std::string const& text,
                         char const* kind = "tick") {
    to.element("text", {{"class", kind}, {"x", number(at_x)}, {"y", number(at_y)}, {"text-anchor", anchor}}, text);
  };
  for (double decade = y.low; decade <= y.high; ++decade) {
    to.leaf("path", {{"class", "gridline"}, {"d", fmt::format("M{:g} {:.1f}H{:g}", left, y(decade), right)}});
    if (y.high - y.low <= 6 || std::fmod(decade, 2) == 0)
      label(left - 6, y(decade) + 4, "end",
            decade == 0    ? "1"
            : decade == 1  ? "10"
            : decade == -1 ? "0.1"
                           : fmt::format("1e{:.0f}", decade));
  }
  double const step = x.high - x.low > 16 ? 4 : x.high - x.low > 6 ? 2 : 1;
  for (double at = x.low; at <= x.high + 1e-9; at += step) label(x(at), bottom + 16, "middle", power_of_two(at));
  to.leaf("path", {{"class", "axis"}, {"d", fmt::format("M{:g} {:g}V{:g}H{:g}", left, top, bottom, right)}});
  to.leaf("path", {{"class", "bound"}, {"d", fmt::format("M{:g} {:.1f}H{:g}", left, bound, right)}});
  label(right - 2, bound - 5, "end", "the bound", "bound-label");
  label((left + right) / 2, height - 4, "middle", std::string(axis), "axis-label");
}

}  // namespace

std::string curve_svg(std::string_view axis, std::vector<plot_line> const& all) {
  // A report from a file may hold places that have no logarithm.
  std::vector<plot_line> lines = all;
  for (plot_line& line : lines)
    std::erase_if(line.points,
                  [](plot_point const& point) { return !(point.place > 0 && std::isfinite(point.place)); });
  log_axis x{.low = 1e300, .high = -1e300, .from = left + 10, .to = right - 10};
  log_axis y{.low = -3, .high = 1, .from = bottom, .to = top};
  std::string spoken = fmt::format("Worst error in units of the bound against {}.", axis);
  for (plot_line const& line : lines) {
    spoken += fmt::format(" {}:", line.name);
    for (plot_point const& point : line.points) {
      x.low = std::min(x.low, std::log2(point.place)), x.high = std::max(x.high, std::log2(point.place));
      spoken += fmt::format(" {:g} at {:g}{};", point.error_in_bounds, point.place, point.failed ? " (refuted)" : "");
      if (!(point.error_in_bounds > 0) || std::isinf(point.error_in_bounds)) continue;
      double const log = std::log10(point.error_in_bounds);
      y.low = std::min(y.low, std::max(std::floor(log), -8.0)),
      y.high = std::max(y.high, std::min(std::ceil(log), 8.0));
    }
  }
  if (x.low > x.high) x.low = 0, x.high = 1;
  if (x.low == x.high) x.low -= 1, x.high += 1;
  markup to;
  to.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"class", "curve"},
                  {"role", "img"},
                  {"viewBox", fmt::format("0 0 {:g} {:g}", width, height)}});
  to.element("title", fmt::format("Error in units of the bound against {}", axis)).element("desc", spoken);
  draw_axes(axis, x, y, to);
  for (plot_line const& line : lines) {
    std::string path, markers, crosses;
    for (plot_point const& point : line.points) {
      double const at_x = x(std::log2(point.place)), at_y = y(std::log10(point.error_in_bounds));
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x, at_y);
      markers += marker_path(line.style, at_x, at_y);
      if (point.failed) crosses += fmt::format("M{:.1f} {:.1f}l12 12m0 -12l-12 12", at_x - 6, at_y - 6);
    }
    std::string const style = fmt::format("s{}", line.style % 6);
    auto const dash = std::string(dashes[static_cast<std::size_t>(line.style % 6)]);
    to.leaf("path", {{"class", "line " + style}, {"stroke-dasharray", dash}, {"d", path}});
    to.leaf("path", {{"class", "marker " + style}, {"d", markers}});
    if (!crosses.empty()) to.leaf("path", {{"class", "cross"}, {"d", crosses}});
  }
  return std::move(to).finish();
}

std::string legend_svg(int style) {
  markup to;
  to.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"class", "legend"},
                  {"aria-hidden", "true"},
                  {"viewBox", "0 0 44 14"},
                  {"width", "44"},
                  {"height", "14"}});
  std::string const name = fmt::format("s{}", style % 6);
  to.leaf("path", {{"class", "line " + name},
                   {"stroke-dasharray", std::string(dashes[static_cast<std::size_t>(style % 6)])},
                   {"d", "M1 7H43"}});
  to.leaf("path", {{"class", "marker " + name}, {"d", marker_path(style, 22, 7)}});
  return std::move(to).finish();
}

}  // namespace attest::audit
