#include "audit/report/html/curves.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/report/html/legend.hpp"
#include "audit/report/svg/curve.hpp"

namespace attest::audit {
namespace {

/// The curves of one axis, one for each kernel that has a point on it.
std::vector<plot_line> lines_of(std::span<report const> all, std::string const& axis) {
  std::vector<plot_line> lines;
  for (std::size_t n = 0; n < all.size(); ++n) {
    plot_line line{all[n].kernel, static_cast<int>(n), {}};
    for (curve_point const& point : all[n].curves)
      if (point.axis == axis && point.place > 0 && std::isfinite(point.place) && !std::isnan(point.error_in_bounds))
        line.points.push_back({point.place, point.error_in_bounds, point.failed});
    std::ranges::sort(line.points, {}, &plot_point::place);
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

void write_curve_numbers(std::vector<plot_line> const& lines, markup& to) {
  to.open("details").element("summary", "the numbers");
  to.open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr").element("th", {{"scope", "col"}}, "at");
  for (plot_line const& line : lines) to.element("th", {{"scope", "col"}, {"class", "number"}}, line.name);
  to.close().close().open("tbody");
  std::vector<double> places;
  for (plot_line const& line : lines)
    for (plot_point const& point : line.points) places.push_back(point.place);
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  for (double const place : places) {
    to.open("tr").element("th", {{"scope", "row"}}, fmt::format("{:g}", place));
    for (plot_line const& line : lines) {
      auto const at = std::ranges::find(line.points, place, &plot_point::place);
      to.element("td", {{"class", "number"}},
                 at == line.points.end() ? "–" : fmt::format("{:.4g}{}", at->error_in_bounds, at->failed ? " ✗" : ""));
    }
    to.close();
  }
  to.close().close().close().close();
}

}  // namespace

void write_curves(std::span<report const> all, markup& to) {
  std::vector<std::string> axes;
  for (report const& kernel_report : all)
    for (curve_point const& point : kernel_report.curves)
      if (std::ranges::find(axes, point.axis) == axes.end()) axes.push_back(point.axis);
  if (axes.empty()) return;
  to.open("section").element("h2", "Stability");
  to.element("p", {{"class", "note"}},
             "Worst error in units of the bound. A point above the bound refutes; one on an edge lies there or beyond; "
             "a cross marks a refuted problem.");
  if (all.size() > 1) write_legend(all, "", to);
  to.open("div", {{"class", "curves"}});
  for (std::string const& axis : axes) {
    auto const lines = lines_of(all, axis);
    if (lines.empty()) continue;
    to.open("figure").trusted(curve_svg(axis, lines));
    write_curve_numbers(lines, to);
    to.close();
  }
  to.close().close();
}

}  // namespace attest::audit
