#include "examples/support/certified.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "fast/algorithm/model.hpp"
#include "fast/attention.hpp"
#include "problem/checks.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/outward.hpp"

namespace attest::examples {

certified_attention certify(problem::instance<float> const& p, std::int64_t b, std::int64_t h) {
  problem::sizes const& s = p.size();
  certified_attention exact;
  exact.S = exact.A = {s.n, s.m, std::vector<number>(static_cast<std::size_t>(s.n * s.m))};
  exact.O = {s.n, s.dv, {}};
  for (std::int64_t i = 0; i < s.n; ++i) {
    reference::enclosed_row<128, float> row;
    reference::compiled::enclose_row(p, b, h, i, row);
    for (std::size_t at = 0; at < row.keys.size(); ++at) {
      auto const place = static_cast<std::size_t>(i * s.m + row.keys[at].j);
      exact.S.entries[place] = row.max_score + row.keys[at].below_max;
      exact.A.entries[place] = reference::compiled::weight(row, at);
    }
    for (std::int64_t c = 0; c < s.dv; ++c) exact.O.entries.push_back(reference::compiled::output(p, row, c).value);
    exact.entropy.push_back(reference::entropy(row));
    exact.rows.push_back(std::move(row));
  }
  return exact;
}

kernel_answer ask_kernel(problem::instance<float> const& p) {
  problem::sizes const& s = p.size();
  kernel_answer answer;
  answer.O.resize(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv));
  answer.A.resize(static_cast<std::size_t>(s.b * s.hq * s.n * s.m));
  problem::output_tensors<float> tensors;
  tensors.o = {answer.O.data(), problem::rows_layout(s, p.rank(), s.dv)};
  tensors.weights = problem::tensor<float>{answer.A.data(), problem::rows_layout(s, p.rank(), s.m)};
  auto const done = fast::attention(p, problem::outputs<float>::make(p, tensors).value());
  if (!done) throw std::runtime_error("the kernel refused the problem");
  return answer;
}

double share_of_bound(problem::instance<float> const& p, certified_attention const& exact,
                      kernel_answer const& answer) {
  double largest = 0;
  for (std::size_t i = 0; i < exact.rows.size(); ++i) {
    reference::row_facts facts;
    reference::compiled::collect_facts(p, exact.rows[i], facts);
    reference::row_bound bound;
    reference::compiled::evaluate(bound, fast::model<float>(p.size(), p.has_bias()), facts);
    for (std::int64_t c = 0; c < p.size().dv; ++c) {
      number const& o = exact.O(static_cast<std::int64_t>(i), c);
      float const found = answer.O[i * static_cast<std::size_t>(p.size().dv) + static_cast<std::size_t>(c)];
      number const error = reference::absolute(number::from(reference::value_of(found)) - o);
      largest = std::max(
          largest, reference::upper(error) / reference::compiled::output_bound(bound, p, exact.rows[i], c, o).size);
    }
  }
  return largest;
}

problem::instance<float> attention_problem(std::span<float const> Q, std::span<float const> K, std::span<float const> V,
                                           std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t dv,
                                           problem::parameters const& chosen) {
  problem::arguments<float> arguments;
  static_cast<problem::parameters&>(arguments) = chosen;
  arguments.q = {Q.data(), problem::layout::compact({n, d})};
  arguments.k = {K.data(), problem::layout::compact({m, d})};
  arguments.v = {V.data(), problem::layout::compact({m, dv})};
  return problem::instance<float>::make(arguments).value();
}

double nearly(number const& x) { return (reference::lower(x) + reference::upper(x)) / 2; }

std::vector<double> nearly(std::vector<number> const& x) {
  std::vector<double> result;
  for (number const& each : x) result.push_back(nearly(each));
  return result;
}

std::string fixed(number const& x, int places) {
  std::string text = fmt::format("{:.{}f}", nearly(x), places);
  if (reference::rounds_to(x, text) != reference::decision::yes)
    throw std::runtime_error(fmt::format("the digits of {} are not certain", text));
  return text;
}

void print(number_matrix const& matrix, std::vector<std::string> const& names, int places) {
  std::size_t widest = 0;
  for (std::string const& name : names) widest = std::max(widest, name.size());
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    fmt::print("  {:{}}", names[static_cast<std::size_t>(i)], widest);
    for (number const& x : matrix.row(i)) fmt::print("  {:>{}}", fixed(x, places), places + 3);
    fmt::print("\n");
  }
}

}  // namespace attest::examples
