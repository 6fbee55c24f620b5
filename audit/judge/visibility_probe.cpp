// The visibility probe: the keys that a query read, decoded from the digits of O. cases/probe.hpp defines the code.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "audit/cases/probe.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/one_query.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using keys = std::vector<bool>;

std::int64_t count(keys const& of) { return std::ranges::count(of, true); }

/// The set of keys that the columns encode. Returns nothing if they encode none.
/// Why       with N keys of equal weight every column is (Σ 2^digit)/N: column·N is an integer, and all columns
///           together have N binary ones. Every N is tried
std::optional<keys> read_keys(std::vector<double> const& columns, std::int64_t m, std::int64_t digits) {
  std::optional<keys> best;
  double smallest = 0.25;  // if column·N is further from an integer, the digits mean nothing
  for (std::int64_t n = 1; n <= m; ++n) {
    keys read(static_cast<std::size_t>(m));
    double residual = 0;
    bool fits = true;
    for (std::size_t c = 0; fits && c < columns.size(); ++c) {
      double const scaled = columns[c] * static_cast<double>(n), whole = std::nearbyint(scaled);
      residual = std::max(residual, std::abs(scaled - whole));
      fits = whole >= 0 && whole < std::ldexp(1.0, static_cast<int>(digits));
      if (!fits) break;
      auto bits = static_cast<std::uint64_t>(whole);
      for (std::int64_t j = static_cast<std::int64_t>(c) * digits; bits != 0; bits >>= 1, ++j) {
        if ((bits & 1) == 0) continue;
        if (j >= m) {
          fits = false;
          break;
        }
        read[static_cast<std::size_t>(j)] = true;
      }
    }
    if (!fits || count(read) != n || residual >= smallest) continue;
    smallest = residual;
    best = std::move(read);
  }
  return best;
}

/// A set of keys as text: "2-5 9".
std::string runs(keys const& of) {
  std::string text;
  for (std::size_t j = 0; j < of.size(); ++j) {
    if (!of[j]) continue;
    std::size_t last = j;
    while (last + 1 < of.size() && of[last + 1]) ++last;
    text +=
        fmt::format("{}{}", text.empty() ? "" : " ", last == j ? fmt::format("{}", j) : fmt::format("{}-{}", j, last));
    j = last;
  }
  return text.empty() ? "none" : text;
}

/// Is row (b, h, i) within the bound of the answer with these keys? Without keys there is nothing to average.
bool within_bound_of(keys const& read, owned_problem const& probe, owned_outputs const& outputs, contract const& claim,
                     std::int64_t b, std::int64_t h, std::int64_t i) {
  if (count(read) == 0) return true;
  problem_draft alone = one_query(probe, b, h, i);
  alone.bias.reset();
  auto const there = static_cast<std::size_t>(alone.k.layout.shape[2]);
  if (std::find(read.begin() + static_cast<std::ptrdiff_t>(there), read.end(), true) != read.end()) return false;
  alone.mask = owned_tensor::compact(problem::element_type::u8, {1, 1, 1, static_cast<std::int64_t>(there)});
  for (std::size_t j = 0; j < there; ++j) store(*alone.mask, j, read[j] ? 1 : 0);
  owned_outputs answer = one_answer(probe, outputs, b, h, i);
  answer.lse.reset(), answer.weights.reset();
  return judge(owned_problem::of_valid(std::move(alone)).instance(), answer, claim).failed == 0;
}

std::string line_of(keys const& of) {
  std::string text;
  for (bool const read : of) text += read ? '#' : '.';
  return text;
}

}  // namespace

void judge_visibility(audit_case const& kernel_case, owned_outputs const& outputs, contract const& claim,
                      case_result& into) {
  if (!outputs.o) return;
  problem_draft const& draft = kernel_case.problem.draft();
  problem::sizes const& s = kernel_case.problem.size();
  owned_tensor const& o = *outputs.o;
  std::int64_t const digits = probe::digits(o.type);
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        std::vector<std::string> picture;
        std::optional<violation> first;
        std::int64_t wrong = 0, inexact = 0;
        for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
          std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
          if (i >= p.queries(b)) continue;
          keys visible(static_cast<std::size_t>(s.m));
          for (std::int64_t j = 0; j < s.m; ++j) {
            double const bias =
                p.has_bias() ? load(*draft.bias,
                                    [&] {
                                      auto const& w = draft.bias->layout;
                                      auto const at = [&](std::size_t axis, std::int64_t n) {
                                        return w.shape[axis] == 1 ? 0 : n * w.stride[axis];
                                      };
                                      return static_cast<std::size_t>(at(0, b) + at(1, h) + at(2, i) + j * w.stride[3]);
                                    }())
                             : 0;
            visible[static_cast<std::size_t>(j)] = reference::visible(p, b, h, i, j) && bias == 0;
          }
          std::vector<double> columns;
          for (std::int64_t c = 0; c < s.dv; ++c)
            columns.push_back(load(o, output_row(kernel_case.problem, b, h, i) * static_cast<std::size_t>(s.dv) +
                                          static_cast<std::size_t>(c)));
          std::int64_t const n = count(visible);
          bool exact = true, fits = true;  // every column is (Σ 2^digit)/N; times N it is nearest to that integer
          for (std::int64_t c = 0; c < s.dv; ++c) {
            double sum = 0;
            for (std::int64_t j = c * digits; j < std::min(s.m, (c + 1) * digits); ++j)
              if (visible[static_cast<std::size_t>(j)]) sum += std::ldexp(1.0, static_cast<int>(j - c * digits));
            double const column = columns[static_cast<std::size_t>(c)];
            exact = exact && column == (n > 0 ? sum / static_cast<double>(n) : 0);
            fits = fits && std::nearbyint(column * static_cast<double>(n)) == sum;
          }
          // Rounded digits may fit several sets of keys: the expected one is tried first.
          auto read = fits ? std::optional(visible) : read_keys(columns, s.m, digits);
          bool const explains = into.judged.failed > 0;  // the digits only explain numbers that are wrong
          if (explains && read && !within_bound_of(*read, kernel_case.problem, outputs, claim, b, h, i)) read.reset();
          if (picture.size() < 48 && b == 0 && h == 0)
            picture.push_back(fmt::format("{}  {}", line_of(visible), read ? line_of(*read) : std::string("?")));
          if (read == visible) {
            inexact += !exact && n > 0 && (n & (n - 1)) == 0;
            continue;
          }
          if (!read && n == 0) continue;  // the rule for empty rows judges it
          ++wrong;
          if (first || !read) continue;  // digits without a meaning are judged as numbers alone
          keys extra = *read, missed = visible;
          for (std::size_t j = 0; j < extra.size(); ++j) {
            extra[j] = (*read)[j] && !visible[j];
            missed[j] = visible[j] && !(*read)[j];
          }
          first.emplace();
          first->output = "o", first->index = {b, h, i, 0}, first->got = columns.empty() ? 0 : columns[0];
          first->error_in_bounds = std::numeric_limits<double>::infinity();
          first->sentence = fmt::format("query [{}, {}, {}] read keys {}; it may see {} (not allowed: {}; missed: {})",
                                        b, h, i, runs(*read), runs(visible), runs(extra), runs(missed));
          bool const edge = count(extra) + count(missed) == 1;
          bool const banded = draft.band != problem::band{};
          first->bug_class = !banded ? bug_class::mask_polarity
                             : edge  ? bug_class::window_edge
                                     : bug_class::causal_alignment;
        }
        // The numbers have been judged by their bound; the digits only explain a violation.
        if (first && into.judged.failed > 0) {
          picture.insert(picture.begin(),
                         fmt::format("{:<{}}  applied (a line a query, a column a key)", "asked", s.m));
          first->picture = std::move(picture);
          first->sentence += fmt::format("; {} of {} rows differ", wrong, s.b * s.hq * s.n);
          ++into.judged.failed;
          into.judged.add(std::move(*first));
        }
        if (inexact > 0)
          into.observations.push_back(
              fmt::format("{}: {} rows with 2^k equally weighted keys are not exact (the final operation is no "
                          "division, or exp(0) is not 1)",
                          kernel_case.full_name(), inexact));
      },
      kernel_case.problem.instance());
}

}  // namespace attest::audit
