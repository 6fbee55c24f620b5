#include "examples/support/experiment.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "reference/real/decimal.hpp"

namespace attest::examples {
namespace {

namespace fs = std::filesystem;

/// Colours that differ for colour-blind readers (Okabe and Ito) and in dashes and points for those who print in grey.
constexpr std::string_view style = R"(set terminal svg size {},{} font "sans,13" background "white"
set encoding utf8
set output "{}.svg"
set datafile separator ","
set datafile columnheaders
set border 3 lc rgb "#444444"
set tics nomirror out
set grid lc rgb "#dddddd" lt 1 lw 0.5
set title font ",14"
set key opaque
set linetype 1 lc rgb "#0072B2" lw 2 pt 7 ps 0.6 dt 1
set linetype 2 lc rgb "#D55E00" lw 2 pt 5 ps 0.6 dt (8,4)
set linetype 3 lc rgb "#009E73" lw 2 pt 9 ps 0.6 dt (2,3)
set linetype 4 lc rgb "#CC79A7" lw 2 pt 11 ps 0.6 dt (10,3,2,3)
set linetype 5 lc rgb "#444444" lw 1.5 pt 13 ps 0.6 dt (3,3)
)";

std::ofstream opened(fs::path const& file) {
  std::ofstream to(file);
  if (!to) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
  return to;
}

void closed(std::ofstream& to, fs::path const& file) {
  to.close();
  if (!to) throw std::runtime_error(fmt::format("could not write all of {}", file.string()));
}

}  // namespace

void experiment::section(std::string_view title) { fmt::print("\n{}\n", title); }

void experiment::check(bool holds, std::string_view statement) {
  ++checked_;
  if (!holds) ++failed_;
  fmt::print("  {} {}\n", holds ? "holds" : "FAILS", statement);
}

void experiment::rounds(number const& x, std::string_view printed, std::string_view what) {
  check(reference::rounds_to(x, printed) == reference::decision::yes, fmt::format("{} = {}", what, printed));
}

void experiment::rounds(std::vector<number> const& row, std::initializer_list<std::string_view> printed,
                        std::string_view what) {
  bool all = row.size() == printed.size();
  std::string digits;
  std::size_t at = 0;
  for (std::string_view const each : printed) {
    all = all && reference::rounds_to(row[at++], each) == reference::decision::yes;
    digits += (digits.empty() ? "" : " ") + std::string(each);
  }
  check(all, fmt::format("{} = [{}]", what, digits));
}

void experiment::misprinted(number const& x, std::string_view printed, std::string_view what) {
  check(reference::rounds_to(x, printed) == reference::decision::no,
        fmt::format("erratum: {} is printed as {}; it is {}", what, printed, fixed(x, 10)));
}

void experiment::within_5_standard_errors(double found, double expected, double standard_error, std::string_view what) {
  check(std::abs(found - expected) <= 5 * standard_error,
        fmt::format("{}: {:.6g}, expected {:.6g}, {:.2f} of 5 standard errors of {:.3g}", what, found, expected,
                    std::abs(found - expected) / standard_error, standard_error));
}

void experiment::table(std::string_view name, std::vector<std::string> const& columns,
                       std::vector<std::vector<double>> const& rows) {
  if (!out_) return;
  fs::path const file = *out_ / fmt::format("{}.csv", name);
  std::ofstream to = opened(file);
  to << fmt::format("{}\n", fmt::join(columns, ","));
  for (auto const& row : rows) to << fmt::format("{}\n", fmt::join(row, ","));
  closed(to, file);
}

void experiment::figure(std::string_view name, std::string_view script, figure_size const& size) {
  if (!out_) return;
  fs::path const file = *out_ / fmt::format("{}.gp", name);
  std::ofstream to = opened(file);
  to << fmt::format(fmt::runtime(style), size.width, size.height, name) << script;
  closed(to, file);
  // The script names the tables next to it. Its name is a word of the example: nothing in it needs quotes.
  fs::path const before = fs::current_path();
  fs::current_path(*out_);
  int const status = std::system(fmt::format("gnuplot {}.gp", name).c_str());
  fs::current_path(before);
  if (status != 0)
    throw std::runtime_error(fmt::format("gnuplot did not draw {} (Debian: gnuplot-nox)", file.string()));
}

int run(int argc, char** argv, std::string const& sentence, std::function<void(experiment&)> const& body) {
  CLI::App app(sentence);
  std::optional<fs::path> out;
  app.add_option("--out", out, "write tables (CSV) and figures (SVG, by gnuplot) into this folder")->type_name("DIR");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) { return app.exit(error) == 0 ? 0 : 2; }
  try {
    if (out) fs::create_directories(*out);
    fmt::print("{}\n", sentence);
    experiment one(out);
    body(one);
    fmt::print("\n{} of {} checks hold.\n", one.checked() - one.failed(), one.checked());
    if (out) fmt::print("Tables and figures are in {}.\n", out->string());
    return one.failed() == 0 && one.checked() > 0 ? 0 : 1;
  } catch (std::exception const& error) {
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

}  // namespace attest::examples
