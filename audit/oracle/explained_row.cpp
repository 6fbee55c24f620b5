#include "audit/oracle/explained_row.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "audit/oracle/shown_value.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sizes_words.hpp"
#include "audit/support/words.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/infinite_score.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {
namespace {

constexpr unsigned W = 128;
constexpr std::size_t listed_keys = 32, listed_columns = 16;
constexpr std::int64_t picture_width = 64, picture_height = 24;

/// A weight as one character: a blank for 0, and one each for weights below 2⁻⁸, 2⁻⁵, 2⁻³, 1/2 and from 1/2 on.
char const* shade(double weight) {
  static constexpr char const* steps[]{" ", "·", "░", "▒", "▓", "█"};
  if (!(weight > 0)) return steps[0];
  if (weight < 0x1p-8) return steps[1];
  return weight < 0x1p-5 ? steps[2] : weight < 0x1p-3 ? steps[3] : weight < 0.5 ? steps[4] : steps[5];
}

std::string bar(double weight) {
  std::string blocks;
  for (int n = 0; n < static_cast<int>(std::lround(24 * weight)); ++n) blocks += "█";
  return blocks.empty() && weight > 0 ? "▏" : blocks;
}

/// "scale 1/sqrt(d), softcap 30, band diagonal 0 left -1 right 0": the scale, and the parameters that are not neutral.
std::string parameters_text(problem::parameters const& parameters) {
  std::string numbers, band;
  problem::visit_parameters(parameters, [&]<class T>(problem::parameter<T> const& parameter, T const& value) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      band += fmt::format(" {} {}", parameter.name, value);
    } else if constexpr (std::is_same_v<T, double>) {
      if (value != parameter.neutral) numbers += fmt::format(", {} {:g}", parameter.name, value);
    } else {
      numbers += fmt::format(", {} {}", parameter.name, value ? fmt::format("{:g}", *value) : parameter.none);
    }
  });
  return numbers.substr(2) + (parameters.band != problem::band{} ? ", band" + band : "");
}

/// The text about one row of one problem.
template <class T>
class explanation {
 public:
  explanation(problem::instance<T> const& p, problem_file_entry const& from, std::string_view contract_name,
              problem::kernel_model const& model, std::array<std::int64_t, 3> row)
      : p_(p), from_(from), contract_(contract_name), model_(model), at_(row) {}

  std::string text() {
    reference::compiled::enclose_row(p_, at_[0], at_[1], at_[2], row_);
    head();
    if (row_.kind == reference::row_kind::nan)
      add("a visible NaN or an infinite score decides this row: its answers are NaN{}\n",
          reference::lse_is_infinite(p_, at_[0], at_[1], at_[2]) ? " (an LSE of +inf is right, too)" : "");
    if (row_.kind == reference::row_kind::empty)
      add("no key is visible to this query (or every score is -inf): O is 0, LSE is -inf (docs/semantics.md)\n");
    if (row_.kind == reference::row_kind::finite) {
      reference::compiled::collect_facts(p_, row_, facts_);
      reference::compiled::evaluate(bound_, model_, facts_);
      keys();
    }
    outputs();
    picture();
    return std::move(text_);
  }

 private:
  template <class... A>
  void add(fmt::format_string<A...> form, A&&... a) {
    text_ += fmt::format(form, std::forward<A>(a)...);
  }

  void head() {
    problem::sizes const& s = p_.size();
    if (auto const& merge = from_.problem.draft().merge) {
      add("{}row [{}, {}, {}] of a merge of {} parts, b={} hq={} n={} dv={}, {}, contract {}\na key is a part, its "
          "score is "
          "the LSE of the part{}\n\n",
          from_.prefix.empty() ? "" : printable(from_.prefix) + ": ", at_[0], at_[1] / merge->queries,
          at_[1] % merge->queries, s.m, s.b, merge->heads, merge->queries, s.dv, problem::name_of(problem::type_of<T>),
          contract_, in_base_2(merge->base));
      return;
    }
    add("{}query [{}, {}, {}] of {}, {}, contract {}\n", from_.prefix.empty() ? "" : printable(from_.prefix) + ": ",
        at_[0], at_[1], at_[2], sizes_words(s), problem::name_of(problem::type_of<T>), contract_);
    add("it reads head {} of K and V; {}", reference::key_head(s, at_[1]), parameters_text(from_.problem.draft()));
    add("{}{}", from_.problem.draft().mask ? ", masked" : "", from_.problem.draft().bias ? ", biased" : "");
    from_.problem.draft().each_optional([&](problem::optional_tensor const& row, owned_tensor const&) {
      if (row.version > 1) add(", with {}", row.name);
    });
    add("\n");
    if (p_.has_sink())
      add("the sink of this head is {}{}\n", shown_sink(),
          model_.sink_form == problem::sink_form::term      ? ""
          : model_.sink_form == problem::sink_form::rescale ? ", a factor behind the keys"
                                                            : ", a term or a factor behind the keys");
    if (!from_.problem.draft().is_dense())
      add("entry {} has {} and {}\n", at_[0], counted(p_.queries(at_[0]), "query", "queries"),
          counted(p_.keys(at_[0]), "key", "keys"));
    add("\n");
  }

  /// The visible keys by falling weight, with running sums of weights and bounds.
  void keys() {
    std::vector<std::size_t> order(row_.keys.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      double const x = facts_.keys[a].weight_upper, y = facts_.keys[b].weight_upper;
      return x != y ? x > y : a < b;
    });
    add("{:>6}  {:>16}  {:>16}  {:>10}  {:>10}  {:>10}\n", "key", "score", "weight", "bound", "Σ weight", "Σ bound");
    double sum = 0, bounds = 0;
    for (std::size_t n = 0; n < order.size(); ++n) {
      std::size_t const k = order[n];
      bool const is_sink = row_.has_sink() && k + 1 == row_.keys.size();
      // No kernel returns the weight of a sink that multiplies O after the keys.
      bool const no_bound = is_sink && bound_.terms().factor.asked;
      double const weight = facts_.keys[k].weight_upper, bound = no_bound ? 0 : bound_.weight(k).size;
      sum += weight, bounds += bound;
      if (n >= listed_keys) continue;
      add("{:>6}  {:>16}  {:>16}  {:>10.3g}  {:>10.6f}  {:>10.3g}  {}\n",
          is_sink ? std::string("sink") : fmt::format("{}", row_.keys[k].j), shown(score_of(k)),
          shown(reference::compiled::weight(row_, k)), bound, sum, bounds, bar(weight));
    }
    if (order.size() > listed_keys)
      add("{:>6}  {:>16}  {:>16}  {:>10}  {:>10.6f}  {:>10.3g}\n", fmt::format("+{}", order.size() - listed_keys), "",
          "", "", sum, bounds);
    add("{} of {} keys are visible with a finite score\n\n", row_.real_keys().size(), p_.keys(at_[0]));
    auto const bound = reference::in_base(model_.lse_base, bound_.log_sum_exp());
    add("LSE{} {}, bound {:.3g}{}\n", in_base_2(model_.lse_base),
        shown(reference::in_base(model_.lse_base, reference::compiled::log_sum_exp(row_))), bound.size,
        clause(bound.by));
  }

  /// In a merge, exactly the LSE of the part.
  reference::ball<W> score_of(std::size_t k) const {
    return from_.problem.draft().merge ? reference::ball<W>::from(row_.keys[k].score.bias)
                                       : row_.max_score + row_.keys[k].below_max;
  }

  static char const* in_base_2(problem::log_base base) { return base == problem::log_base::two ? " in base 2" : ""; }

  std::string shown_sink() const {
    return p_.sink().present ? fmt::format("{:.9g}", number(p_.sink()(at_[0], at_[1], 0, 0)))
                             : fmt::format("{:.9g}", p_.sink_f32()(at_[0], at_[1], 0, 0));
  }

  static char const* clause(reference::judged_by by) {
    return by == reference::judged_by::nothing     ? " (outside the hypotheses: not judged)"
           : by == reference::judged_by::dominance ? " (by dominance)"
                                                   : "";
  }

  void outputs() {
    problem::sizes const& s = p_.size();
    auto const& recorded = from_.outputs.o;
    if (row_.kind == reference::row_kind::nan) return;
    add("\n{:>6}  {:>16}  {:>10}{}\n", "o", "exact", "bound",
        recorded ? fmt::format("  {:>16}  {:>12}", "recorded", "error/bound") : "");
    double worst = 0;
    for (std::int64_t c = 0; c < s.dv; ++c) {
      auto const exact = reference::compiled::output(p_, row_, c);
      std::string value = "0", size = "exact", error_text;
      double bound = 0;
      bool const finite = exact.kind == reference::value_kind::finite;
      if (row_.kind == reference::row_kind::finite) {
        value = finite ? shown(exact.value) : exact.kind == reference::value_kind::nan ? "nan" : "not finite";
        if (finite) {
          auto const output_bound = reference::compiled::output_bound(bound_, p_, row_, c, exact.value);
          bound = output_bound.size, size = fmt::format("{:.3g}", bound);
        } else {
          size = "-";
        }
      }
      if (recorded) {
        double const got =
            load(*recorded, output_row(from_.problem, at_[0], at_[1], at_[2]) * static_cast<std::size_t>(s.dv) +
                                static_cast<std::size_t>(c));
        double error_in_bounds = 0;
        if (finite && row_.kind == reference::row_kind::finite && std::isfinite(got))
          error_in_bounds =
              reference::upper(reference::absolute(reference::ball<W>::from(reference::value_of(got)) - exact.value)) /
              bound;
        else if (row_.kind == reference::row_kind::empty) error_in_bounds = got == 0 ? 0 : reference::infinity;
        else error_in_bounds = finite ? reference::infinity : 0;
        worst = std::max(worst, error_in_bounds);
        error_text =
            fmt::format("  {:>16.9g}  {:>12.4f}{}", got, error_in_bounds, error_in_bounds > 1 ? "  OUTSIDE" : "");
      }
      if (c < static_cast<std::int64_t>(listed_columns)) add("{:>6}  {:>16}  {:>10}{}\n", c, value, size, error_text);
    }
    if (s.dv > static_cast<std::int64_t>(listed_columns)) add("{:>6}  of {} columns\n", "…", s.dv);
    if (recorded) add("the worst of {} recorded outputs is {:.4f} of its bound away\n", s.dv, worst);
  }

  /// The weights of the head: a line for each query, a column for each key; at most picture_height and picture_width,
  /// evenly chosen.
  void picture() {
    problem::sizes const& s = p_.size();
    std::int64_t const queries = p_.queries(at_[0]), lines = std::min(queries, picture_height),
                       columns = std::min(s.m, picture_width);
    if (lines == 0 || columns == 0) return;
    add("\nweights of head [{}, {}]: {}{}█ ≥ 1/2  ▓ ≥ 1/8  ▒ ≥ 2^-5  ░ ≥ 2^-8  · less\n", at_[0], at_[1],
        lines < queries ? fmt::format("{} of {} queries, ", lines, queries) : "",
        columns < s.m ? fmt::format("{} of {} keys (the largest of each stretch), ", columns, s.m) : "");
    reference::enclosed_row<W, T> other;
    for (std::int64_t line = 0; line < lines; ++line) {
      // A line stands for several queries if there are many: the explained query represents the queries of its line.
      std::int64_t const begin = line * queries / lines, end = (line + 1) * queries / lines;
      bool const is_chosen = at_[2] >= begin && at_[2] < end;
      std::int64_t const i = is_chosen ? at_[2] : begin;
      reference::compiled::enclose_row(p_, at_[0], at_[1], i, other);
      std::vector<double> weights(static_cast<std::size_t>(columns));
      if (other.kind == reference::row_kind::finite)
        for (std::size_t n = 0; n < other.real_keys().size(); ++n) {
          double& most = weights[static_cast<std::size_t>(other.keys[n].j * columns / s.m)];
          most = std::max(most, reference::upper(reference::compiled::weight(other, n)));
        }
      std::string drawn;
      for (double const weight : weights) drawn += shade(weight);
      add("{:>6} {}|{}|{}\n", i, is_chosen ? '>' : ' ', drawn, other.kind == reference::row_kind::nan ? " NaN" : "");
    }
  }

  problem::instance<T> const& p_;
  problem_file_entry const& from_;
  std::string_view contract_;
  problem::kernel_model model_;
  std::array<std::int64_t, 3> at_;
  reference::enclosed_row<W, T> row_;
  reference::row_facts facts_;
  reference::row_bound bound_;
  std::string text_;
};

}  // namespace

std::string explained_row(problem_file_entry const& from, contract const& claim,
                          std::array<std::int64_t, 3> const& row) {
  problem::kernel_model const model = claim.model_for(from.problem.instance());
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) { return explanation<T>(p, from, claim.name, model, row).text(); },
      from.problem.instance());
}

}  // namespace attest::audit
