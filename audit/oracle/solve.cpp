#include "audit/oracle/solve.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "audit/judge/row_truth.hpp"
#include "audit/oracle/answer_tensors.hpp"
#include "audit/oracle/gradient_answers.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"
#include "reference/real/decimal.hpp"

namespace attest::audit {
namespace {

using answers::kind, answers::kinds, answers::names, answers::shapes, answers::tensors;
using enum answers::kind;
using problem::result;
using reference::row_kind;
using reference::value_kind;

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();

/// Evaluates every row with wanted(row) at W bits and hands each element to `take(kind, place, enclose)` once, from any
/// thread; enclose() is its enclosed_value<W>. The LSE of a row without a weight goes to empty(place, LSE).
template <unsigned W, class T, class Wanted, class Take, class Empty>
void for_each_element(problem::instance<T> const& p, problem_file_entry const& from, Wanted&& wanted, Take&& take,
                      Empty&& empty) {
  problem::sizes const& s = p.size();
  bool const has_weights = shapes(from).has_weights;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * s.n, [&](std::int64_t number) {
    std::int64_t const b = number / s.n / s.hq, h = number / s.n % s.hq, i = number % s.n;
    if (i >= p.queries(b)) return;
    auto const at = static_cast<std::int64_t>(output_row(from.problem, b, h, i));
    if (!wanted(at)) return;
    reference::enclosed_row<W, T> row;
    reference::compiled::enclose_row(p, b, h, i, row);
    auto const place = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    for (std::int64_t c = 0; c < s.dv; ++c)
      take(o, place(at * s.dv + c), [&] { return reference::compiled::output(p, row, c); });
    value_kind const kind = row.kind == row_kind::nan ? value_kind::nan : value_kind::finite;
    std::size_t key = 0;
    auto const keys = row.real_keys();
    for (std::int64_t j = 0; has_weights && j < s.m; ++j) {
      bool const has_weight = row.kind == row_kind::finite && key < keys.size() && keys[key].j == j;
      std::size_t const n = has_weight ? key++ : 0;
      take(weights, place(at * s.m + j), [&] {
        return reference::enclosed_value<W>{kind,
                                            has_weight ? reference::compiled::weight(row, n) : reference::ball<W>()};
      });
    }
    if (row.kind == row_kind::empty) return empty(place(at), lse_of_empty(row));
    take(lse, place(at), [&] {
      return reference::enclosed_value<W>{
          kind, kind == value_kind::nan ? reference::ball<W>() : reference::compiled::log_sum_exp(row)};
    });
  });
}

/// Rows that a task rounds; they share the conversion of K.
constexpr std::int64_t rows_of_a_task = 16;

template <class Target, class T>
void solve_rounded(problem::instance<T> const& p, problem_file_entry const& from, tensors& into, solution& solved) {
  problem::sizes const& s = p.size();
  shapes const place(from), shape = place.in_file();
  std::shared_ptr<std::vector<Target>> out[kinds];
  for (std::size_t k = 0; k < kinds; ++k)
    if (k != weights || shape.has_weights)
      out[k] = into.add<Target>(from.name_of(names[k]), shape.of[k], shape.elements[k],
                                from.problem.draft().is_dense() ? reference::quiet_nan<Target>() : Target{});
  std::mutex tallies;
  std::int64_t const tasks = (s.n + rows_of_a_task - 1) / rows_of_a_task;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * tasks, [&](std::int64_t task) {
    std::int64_t const b = task / tasks / s.hq, h = task / tasks % s.hq, i0 = task % tasks * rows_of_a_task;
    reference::machine::row_rounder<Target, T> rounder(p);
    std::int64_t const i1 = std::min(p.queries(b), i0 + rows_of_a_task);
    if (i0 >= i1) return;
    rounder.each(b, h, i0, i1, [&](reference::machine::rounded_row<Target> const& row) {
      auto const at = static_cast<std::int64_t>(output_row(from.problem, b, h, row.i));
      std::ranges::copy(row.o, out[o]->begin() + static_cast<std::ptrdiff_t>(place.place_of_o(at)));
      if (shape.has_weights) std::ranges::copy(row.weights, out[weights]->begin() + at * s.m);
      (*out[lse])[static_cast<std::size_t>(at)] = row.lse;
    });
    std::scoped_lock const lock(tallies);
    solved.rounded += rounder.tally();
  });
}

template <class T>
void solve_enclosed(problem::instance<T> const& p, problem_file_entry const& from, tensors& into) {
  shapes const place(from), shape = place.in_file();
  std::shared_ptr<std::vector<double>> low[kinds], high[kinds];
  for (std::size_t k = 0; k < kinds; ++k) {
    if (k == weights && !shape.has_weights) continue;
    double const fill = !from.problem.draft().is_dense() ? 0 : k == lse ? -reference::infinity : quiet;
    low[k] = into.add<double>(from.name_of(names[k]) + ".lower", shape.of[k], shape.elements[k], fill);
    high[k] = into.add<double>(from.name_of(names[k]) + ".upper", shape.of[k], shape.elements[k], fill);
  }
  for_each_element<128>(
      p, from, [](std::int64_t) { return true; },
      [&](kind k, std::size_t at, auto&& enclose) {
        auto const exact = enclose();
        bool const finite = exact.kind == value_kind::finite;
        if (auto const dv = static_cast<std::size_t>(p.size().dv); k == o)
          at = place.place_of_o(static_cast<std::int64_t>(at / dv)) + at % dv;
        (*low[k])[at] = finite ? reference::lower(exact.value) : quiet;
        (*high[k])[at] = finite ? reference::upper(exact.value) : quiet;
      },
      [&](std::size_t at, double exact) { (*low[lse])[at] = (*high[lse])[at] = exact; });
}

/// The most digits that to_decimal can certify at W bits.
template <unsigned W>
constexpr int digits_at = static_cast<int>(W) * 3 / 10 - 8;
static_assert(largest_digits <= digits_at<reference::last_width>);

/// The digits of every element. `undecided_` marks the rows with elements that the last width did not decide.
template <class T>
class digit_printer {
 public:
  digit_printer(problem::instance<T> const& p, problem_file_entry const& from, int digits)
      : p_(p), from_(from), digits_(digits) {
    shapes const shape(from);
    bool const dense = from.problem.draft().is_dense();
    for (std::size_t k = 0; k < kinds; ++k)
      text[k].assign(static_cast<std::size_t>(shape.elements[k]), dense ? "" : "-");
    undecided_.assign(static_cast<std::size_t>(shape.elements[lse]), 1);
    if (dense) return;
    // Rows that belong to no query have no digits.
    for (std::int64_t b = 0; b < p.size().b; ++b)
      for (std::int64_t h = 0; h < p.size().hq; ++h)
        for (std::int64_t i = 0; i < p.queries(b); ++i) {
          auto const row = static_cast<std::ptrdiff_t>(output_row(from.problem, b, h, i));
          for (auto const& [k, width] :
               {std::pair{o, p.size().dv}, std::pair{weights, shape.has_weights ? p.size().m : 0},
                std::pair{lse, std::int64_t{1}}})
            std::fill_n(text[k].begin() + row * width, width, std::string());
        }
  }

  /// Encloses again, at W bits, the elements that have no digits yet.
  template <unsigned W>
  void print() {
    if (digits_ > digits_at<W>) return;
    std::vector<char> const wanted = std::exchange(undecided_, std::vector<char>(undecided_.size(), 0));
    problem::sizes const& s = p_.size();
    std::int64_t const per_row[kinds]{s.dv, s.m, 1};
    for_each_element<W>(
        p_, from_, [&](std::int64_t row) { return wanted[static_cast<std::size_t>(row)] != 0; },
        [&](kind k, std::size_t at, auto&& enclose) {
          std::string& written = text[k][at];
          if (!written.empty()) return;
          auto const exact = enclose();
          if (exact.kind != value_kind::finite) written = "nan";
          else if (auto const printed = reference::to_decimal(exact.value, digits_)) written = *printed;
          else written.clear(), undecided_[at / static_cast<std::size_t>(per_row[k])] = 1;
        },
        [&](std::size_t at, double exact) { text[lse][at] = fmt::format("{}", exact); });
  }

  std::vector<std::string> text[kinds];  ///< empty if no width decided

 private:
  problem::instance<T> const& p_;
  problem_file_entry const& from_;
  int digits_;
  std::vector<char> undecided_;  ///< one for each row; only the task of the row writes it
};

template <class T>
void solve_digits(problem::instance<T> const& p, problem_file_entry const& from, int digits, solution& into) {
  shapes const shape(from);
  digit_printer<T> printer(p, from, digits);
  printer.template print<128>();
  printer.template print<256>();
  printer.template print<1152>();
  printer.template print<reference::last_width>();
  auto& text = printer.text;
  for (auto& elements : text)
    for (std::string& written : elements)
      if (written.empty()) written = "undecided", ++into.undecided;
  for (std::size_t k = 0; k < kinds; ++k)
    for (std::size_t at = 0; at < text[k].size(); ++at) {
      std::vector<std::int64_t> index(shape.of[k].size());
      auto rest = static_cast<std::int64_t>(at);
      for (std::size_t axis = index.size(); axis-- > 0; rest /= shape.of[k][axis])
        index[axis] = rest % shape.of[k][axis];
      into.text += fmt::format("{}[{}] {}\n", from.name_of(names[k]), fmt::join(index, ", "), text[k][at]);
    }
}

/// The bytes of the answers of one problem.
double bytes_of_answers(problem::sizes const& s, solve_options const& options) {
  double const elements = static_cast<double>(s.b) * static_cast<double>(s.hq) * static_cast<double>(s.n) *
                          (static_cast<double>(s.dv) + static_cast<double>(s.m) + 1);
  double const text = static_cast<double>(sizeof(std::string)) + options.digits.value_or(0);
  return elements * (options.digits  ? text
                     : options.round ? static_cast<double>(problem::size_of(*options.round))
                                     : 2 * sizeof(double));
}

}  // namespace

result<solution> run_solve(solve_options const& options) {
  if (options.digits && (*options.digits < 1 || *options.digits > largest_digits))
    return problem::error{problem::error_code::unsupported, "--digits",
                          fmt::format("{} is not between 1 and {}: enclosures of {} bits, the widest, show no more",
                                      *options.digits, largest_digits, reference::last_width)};
  std::vector<std::string> notes;
  auto const file = read_in_words(options.inputs, options.words, notes);
  if (!file) return file.why();
  auto recorded = problem_file_of(file.value(), options.flags);
  if (!recorded) return recorded.why();
  recorded.value().notes.insert(recorded.value().notes.end(), notes.begin(), notes.end());
  if (auto why = answers::beyond_memory(
          recorded.value(), [&](problem::sizes const& s) { return bytes_of_answers(s, options); },
          " (n·m weights among them)"))
    return *std::move(why);
  if (options.digits.value_or(0) > answers::most_gradient_digits)
    for (problem_file_entry const& entry : recorded.value().problems)
      if (entry.problem.draft().d_out)
        return problem::error{problem::error_code::unsupported, "--digits",
                              fmt::format("{} is more than {}, the most for gradients; '{}' asks for them",
                                          *options.digits, answers::most_gradient_digits, entry.name_of("do"))};
  solution solved;
  solved.ignored = sentences_of_ignored(recorded.value());
  tensors into;
  for (problem_file_entry const& entry : recorded.value().problems) {
    std::visit(
        [&](auto const& p) {
          problem::sizes const& s = p.size();
          solved.elements += queries_of(entry.problem) * s.hq * (s.dv + (shapes(entry).has_weights ? s.m : 0) + 1) +
                             answers::count_of_gradients(entry.problem);
          if (options.digits) return solve_digits(p, entry, *options.digits, solved);
          if (!options.round) return solve_enclosed(p, entry, into);
          problem::with_type(
              *options.round, problem::floating_elements{},
              [&]<class Target>(std::type_identity<Target>) { solve_rounded<Target>(p, entry, into, solved); });
        },
        entry.problem.instance());
    if (options.digits) solved.text += answers::gradient_digits(entry, *options.digits, solved.undecided);
    else if (!options.round) answers::add_enclosed_gradients(entry, into);
    else solved.rounded += answers::add_rounded_gradients(entry, entry.problem, options.round, nullptr, into);
  }
  solved.undecided += solved.rounded.undecided;
  if (options.digits) return solved;
  auto bytes = into.file({{"attest", options.round ? "correctly rounded" : "outward-rounded enclosures"}});
  if (!bytes) return bytes.why();
  solved.file = std::move(bytes).value();
  return solved;
}

}  // namespace attest::audit
