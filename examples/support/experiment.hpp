// One run of an example: its text, its checks, and with --out DIR the tables and figures that it writes there.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "examples/support/certified.hpp"

namespace attest::examples {

/// Width and height of a figure in points.
struct figure_size {
  int width = 760, height = 420;
};

class experiment {
 public:
  /// Where nothing is to be drawn, `out` is empty.
  explicit experiment(std::optional<std::filesystem::path> out) : out_(std::move(out)) {}

  /// A headline between the parts of an example.
  void section(std::string_view title);

  /// A statement about the numbers above it. One that does not hold makes the example fail.
  void check(bool holds, std::string_view statement);

  /// Checks that the exact number rounds to what is printed or proven somewhere: proofs/documents/.
  void rounds(number const& x, std::string_view printed, std::string_view what);
  /// The same for each number of a row.
  void rounds(std::vector<number> const& row, std::initializer_list<std::string_view> printed, std::string_view what);
  /// Checks an erratum: the exact number does not round to what a document prints.
  void misprinted(number const& x, std::string_view printed, std::string_view what);
  /// Checks a mean of draws against its expectation, at 5 standard errors.
  void within_5_standard_errors(double found, double expected, double standard_error, std::string_view what);

  /// Writes NAME.csv: a line of column names, then the rows.
  void table(std::string_view name, std::vector<std::string> const& columns,
             std::vector<std::vector<double>> const& rows);

  /// Writes NAME.gp, the gnuplot script of a figure that reads the tables, and runs it: NAME.svg.
  void figure(std::string_view name, std::string_view script, figure_size const& size = {});

  bool draws() const noexcept { return out_.has_value(); }
  int checked() const noexcept { return checked_; }
  int failed() const noexcept { return failed_; }

 private:
  std::optional<std::filesystem::path> out_;
  int checked_ = 0, failed_ = 0;
};

/// The main function of an example. Its exit status: 0 if every check holds, 1 if not, 2 if it could not run.
int run(int argc, char** argv, std::string const& sentence, std::function<void(experiment&)> const& body);

}  // namespace attest::examples
