// The HTML report and its pictures: escaping, well-formed markup, the marks of a heatmap, the lines of a curve.
#include <algorithm>
#include <cmath>
#include <string>

#include "audit/report/html/page.hpp"
#include "audit/report/svg/curve.hpp"
#include "audit/report/svg/heatmap.hpp"
#include "audit/report/text.hpp"
#include "audit/support/markup.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::report_test {
namespace {

using namespace attest::audit;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
std::string const hostile = "<script>alert(1)</script>\"'&\x1b[2J\xe2\x80\xae";

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

matrix_picture picture(std::int64_t rows, std::int64_t columns, std::vector<double> values) {
  return {0, 0, rows, columns, std::move(values)};
}

std::string drawn(matrix_picture const& of, cells kind, std::vector<bool> const& masked = {}) {
  return heatmap_svg(of, kind, masked, "title", "describes", "keys");
}

finding hostile_finding() {
  finding result;
  result.check = result.case_name = result.reproducer = result.what.sentence = hostile;
  result.what.bug_class = bug_class::accuracy, result.what.output = "o";
  result.what.got = 0.5, result.what.truth_lower = 0.25, result.what.truth_upper = 0.25, result.what.bound = 1e-6,
  result.what.error_in_bounds = 2.5e5;
  finding_pictures pictures;
  pictures.expected = pictures.applied.emplace(picture(1, 2, {0.25, 0.75}));
  pictures.masked = {false, true};
  pictures.applied_by = hostile, pictures.output = "o";
  result.pictures = pictures;
  result.shrunk = shrunk_finding{result.what, {1, 1, 1, 1, 2, 1, 1}, hostile, {{"q", {1, 1, 1, 1}, {0.5}}}};
  return result;
}

report hostile_report(verdict answer = verdict::refuted) {
  report result;
  result.kernel = result.contract = hostile;
  result.verdict = answer;
  result.undecided_because = hostile;
  check_result row;
  row.name = hostile, row.cases = 1, row.failed = answer == verdict::refuted;
  row.sum.by_theorem = 2, row.sum.max_error_in_bounds = 0.5;
  row.conventions = {hostile};
  result.checks.push_back(row);
  if (answer == verdict::refuted) result.findings.push_back(hostile_finding());
  result.observations = {observation(hostile)}, result.relaxed = result.waived = {hostile};
  result.curves = {{hostile, 1, 0.1, false},
                   {hostile, 2, infinity, true},
                   {hostile, 4, 0, false},
                   {hostile, 0, 1, false},
                   {hostile, nan, 1, false}};
  return result;
}

TEST_CASE("text from outside cannot leave its place in the markup", "[unit]") {
  CHECK(escaped("a<b>&\"'c") == "a&lt;b&gt;&amp;&quot;&#39;c");
  CHECK(escaped("\x1b\x01\xff") == "\\x1b\\x01\\xff");
  CHECK(escaped("für 2⁻¹²⁶") == "für 2⁻¹²⁶");
  CHECK(escaped(std::string(1000, 'x')).size() == 1000);
  markup to;
  to.open("p", {{"title", "\"><script>"}}).text("</p>").leaf("br");
  CHECK(std::move(to).finish() == "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;<br/></p>");
}

TEST_CASE("no string of a report becomes markup, whatever the verdict and however many kernels", "[unit]") {
  for (auto const answer : {verdict::certified, verdict::refuted, verdict::undecided}) {
    report const single = hostile_report(answer);
    std::vector<report> const three{single, hostile_report(), single};
    for (std::string const& page : {as_html(std::span(&single, 1)), as_html(three)}) {
      CHECK(!has(page, "<script"));
      CHECK(!has(page, "\x1b"));
      CHECK(!has(page, "\xe2\x80\xae"));
      CHECK(has(page, "&lt;script&gt;"));
      CHECK(has(page, escaped(verdict_sentence(single))));
      CHECK(has(page, "name=\"viewport\""));
      CHECK(has(page, "default-src 'none'") != has(page, "default-src &#39;none&#39;"));
    }
  }
}

TEST_CASE("a finding shows its numbers in decimal and hexadecimal, its inputs and its command", "[unit]") {
  report const single = hostile_report();
  std::string const page = as_html(std::span(&single, 1));
  for (std::string const part : {"<td>0.25</td><td>0x1p-2</td>", "<td>0.5</td><td>0x1p-1</td>", "<td>1e-06</td>",
                                 "<td>(0.5)</td>", "Weights asked for", "Weights applied"})
    CHECK(has(page, part));
  CHECK(count(page, "class=\"heatmap\"") == 2);
}

TEST_CASE("the inputs of a finding are listed whatever number of axes they have", "[unit]") {
  report single = hostile_report();
  single.findings.front().shrunk->inputs = {{"sink", {3}, {1, 2, 3}},
                                            {"scale", {1}, {4}},
                                            {"q_lengths", {0}, {}},
                                            {"mask", {2, 2}, {0, 1, 1, 0}},
                                            {"q", {2, 1, 2}, {5, 6, 7, 8}},
                                            {"k", {1, 2, 1, 1}, {0.5, 0.25}},
                                            {"o_parts", {2, 1, 2, 1, 1}, {1, 2, 3, 4}},
                                            {"none", {2, 0, 1, 1}, {}}};
  std::string const page = as_html(std::span(&single, 1));
  auto const shows = [&](std::string const& name, std::string const& values) {
    INFO(name << ": " << values);
    return has(page, "<th scope=\"row\">" + name + "</th><td>" + values + "</td>");
  };
  CHECK(shows("sink", "(1, 2, 3)"));
  CHECK(shows("scale", "(4)"));
  CHECK(shows("q_lengths", "()"));
  CHECK(shows("mask", "(0, 1)  (1, 0)"));
  CHECK(shows("q", "[0] (5, 6); [1] (7, 8)"));
  CHECK(shows("k", "[0, 0] (0.5); [0, 1] (0.25)"));
  CHECK(shows("o_parts", "[0, 0, 0] (1); [0, 0, 1] (2); [1, 0, 0] (3); [1, 0, 1] (4)"));
  CHECK(shows("none", "no elements"));
}

TEST_CASE("a heatmap crosses what cannot be: weights of masked keys, no weights, errors above the bound", "[unit]") {
  std::vector<double> values(9 * 9, 0.5);
  CHECK(!has(drawn(picture(9, 9, values), cells::weights), "class=\"cross\""));
  for (double const wrong : {nan, -0.5, 1.5, infinity}) {
    values[40] = wrong;
    CHECK(has(drawn(picture(9, 9, values), cells::weights), "class=\"cross\""));
  }
  values[40] = 0.5;
  std::vector<bool> masked(values.size());
  masked[40] = true;
  CHECK(has(drawn(picture(9, 9, values), cells::weights, masked), "class=\"cross\""));
  values[40] = 0;
  CHECK(!has(drawn(picture(9, 9, values), cells::weights, masked), "class=\"cross\""));
  CHECK(count(drawn(picture(9, 9, values), cells::weights, masked), "class=\"masked\"") == 1);
  CHECK(!has(drawn(picture(9, 9, values), cells::errors), "class=\"cross\""));
  for (double const wrong : {1.0001, infinity}) {
    values[40] = wrong;
    CHECK(has(drawn(picture(9, 9, values), cells::errors), "class=\"cross\""));
  }
  for (double const none :
       {nan, -3e-300, -infinity}) {  // not judged is not wrong; a report read from a file may say anything
    values[40] = none;
    CHECK(!has(drawn(picture(9, 9, values), cells::errors), "class=\"cross\""));
    CHECK(count(drawn(picture(9, 9, values), cells::errors), "<path class=\"unknown\"") == 1);
  }
}

TEST_CASE("every cell of a heatmap is drawn once, and small ones carry their numbers", "[unit]") {
  std::string const small = drawn(picture(2, 2, {0, 0.25, 3e-5, 1}), cells::weights);
  for (std::string const number : {">0<", ">0.25<", ">3e-5<", ">1.00<"}) CHECK(has(small, number));
  // Runs of one shade: 1 + 3 cells in the first row, 4 in the second.
  std::string const runs = drawn(picture(2, 4, {0, 1, 1, 1, 1, 1, 1, 1}), cells::keys);
  CHECK(has(runs, "<path class=\"l0\" d=\"M30 22h20v20h-20z\"/>"));
  CHECK(has(runs, "<path class=\"l8\" d=\"M50 22h60v20h-60zM30 42h80v20h-80z\"/>"));
}

TEST_CASE("a curve leaves out what has no place on a logarithmic axis", "[unit]") {
  std::string const usual = curve_svg("keys", {{"k", 0, {{1, 0.5, false}, {8, 0.25, false}}}});
  CHECK(curve_svg("keys", {{"k",
                            0,
                            {{0, 1, false},
                             {-1, 1, false},
                             {1, 0.5, false},
                             {nan, 1, true},
                             {infinity, 1, false},
                             {8, 0.25, false}}}}) == usual);
  CHECK(count(curve_svg("keys", {{"k", 0, {{0, 1, false}}}}), "class=\"bound\"") == 1);
}

TEST_CASE("a curve has the bound, a line of its own for each kernel, and room for any number", "[unit]") {
  std::vector<plot_line> lines;
  for (int style = 0; style < 8; ++style)
    lines.push_back({hostile, style, {{1, 0, false}, {4, 1e-30, false}, {16, infinity, true}}});
  std::string const curve = curve_svg(hostile, lines);
  CHECK(count(curve, "class=\"bound\"") == 1);
  CHECK(count(curve, "class=\"line s") == 8);
  CHECK(count(curve, "class=\"cross\"") == 8);
  CHECK(!has(curve, "<script"));
  CHECK(!has(curve, "nan"));
  CHECK(has(curve_svg("keys", {{"one", 0, {{3, 0.5, false}}}}), "class=\"marker s0\""));
  // The bound lies between an error of 2 and one of 0.5 (down is larger).
  auto const height_of = [](double error) {
    std::string const svg = curve_svg("keys", {{"one", 0, {{1, error, false}, {2, error, false}}}});
    auto const at = svg.find("class=\"line s0\"");
    return std::stod(svg.substr(svg.find(' ', svg.find(" d=\"M", at) + 4)));
  };
  std::string const svg = curve_svg("keys", {{"one", 0, {{1, 0.5, false}}}});
  auto const bound = svg.find("class=\"bound\"");
  double const bound_height = std::stod(svg.substr(svg.find(' ', svg.find(" d=\"M", bound) + 4)));
  CHECK(height_of(2) < bound_height);
  CHECK(bound_height < height_of(0.5));
}

}  // namespace
}  // namespace attest::tests::report_test
