#include "audit/oracle/explained_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "audit/oracle/gradient_oracle.hpp"
#include "audit/oracle/gradient_terms.hpp"
#include "audit/oracle/shown_value.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sizes_words.hpp"
#include "audit/support/sort_by.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using reference::gradient;
using reference::gradient_element;
using reference::value_kind;

constexpr std::size_t most_terms = 32, most_columns = 16;

using exact = reference::ball<128>;

/// One kind of rounding, and the models without it.
struct bound_part {
  char const* words;
  void (*leave_out)(problem::kernel_model&, problem::gradient_model&);
};
bound_part const parts[]{
    {"scores that are formed again", [](auto& f, auto&) { f.k_qk_base = f.k_qk_per_d = 0, f.u_s = f.omega_s = 0; }},
    {"weights: the exponent, exp, and the storage of a weight and of the LSE",
     [](auto& f, auto& g) { g.k_x = g.c_l = 0, g.u_lse = g.u_pd = g.omega_pd = 0, f.eps = g.eps = 0; }},
    {"the product dO*V", [](auto&, auto& g) { g.k_dp_base = g.k_dp_per_dv = 0, g.u_dps = g.omega_dps = 0; }},
    {"delta: its sum and its storage", [](auto&, auto& g) { g.k_delta = 0, g.u_delta = g.omega_delta = 0; }},
    {"dS: its products and its storage", [](auto&, auto& g) { g.k_ds = g.k_e = g.k_g = 0, g.u_ds = g.omega_ds = 0; }},
    {"the weight on its way into dV", [](auto& f, auto& g) { f.u_p = f.u_v = f.omega_p = 0, g.k_dv = 0; }},
    {"the factor of the scale", [](auto&, auto& g) { g.k_scale = 0; }},
    {"partial sums that are stored",
     [](auto&, auto& g) { g.u_head = g.omega_head = 0, g.part_keys = g.part_rows = 0; }},
    {"the storage of the gradient", [](auto&, auto& g) { g.u_grad = g.omega_grad = 0; }},
};

gradient gradient_of(output_kind which) {
  return static_cast<gradient>(static_cast<std::size_t>(which) - static_cast<std::size_t>(output_kind::dq));
}

/// The text about one row of one gradient.
template <class T>
class gradient_explanation {
 public:
  gradient_explanation(problem::instance<T> const& p, problem_file_entry const& from, contract const& claim,
                       output_kind which, std::array<std::int64_t, 3> const& row)
      : p_(p),
        from_(from),
        claim_(claim),
        which_(which),
        at_(row),
        oracle_(from.problem, p, from.outputs, claim),
        places_(from.problem, which) {}

  std::string text() {
    head();
    terms();
    elements();
    return std::move(text_);
  }

 private:
  template <class... A>
  void add(fmt::format_string<A...> form, A&&... a) {
    text_ += fmt::format(form, std::forward<A>(a)...);
  }

  bool is(output_kind kind) const { return which_ == kind; }
  std::int64_t group() const { return p_.size().hk > 0 ? p_.size().hq / p_.size().hk : 1; }

  void head() {
    char const* const rows = is(output_kind::dq)                          ? "query"
                             : is(output_kind::dk) || is(output_kind::dv) ? "key"
                             : is(output_kind::dbias)                     ? "bias row"
                                                                          : "sink";
    add("{}{} of {} [{}, {}, {}] of {}, {}, contract {}\n", from_.prefix.empty() ? "" : printable(from_.prefix) + ": ",
        name_of(which_), rows, at_[0], at_[1], at_[2], sizes_words(p_.size()), problem::name_of(problem::type_of<T>),
        claim_.name);
    bool const recorded = oracle_.mode() == reference::gradient_mode::recorded;
    add("bounds count {}{}\n\n",
        recorded ? "the errors of the O and LSE of the file" : "the errors of a forward pass under the same contract",
        recorded && oracle_.backward().weights == problem::backward_weights::either
            ? "; weights: either also admits a call within the bounds of saved weights"
            : "");
  }

  /// The terms by falling size.
  void terms() {
    auto all = gradient_terms_of(p_, which_, places_.shape(), at_);
    bool const of_weights = is(output_kind::dv);
    auto const size = [&](gradient_term const& each) { return of_weights ? each.weight : std::abs(each.dS); };
    sort_by(all, [&](gradient_term const& each) { return -size(each); });
    if (all.empty()) return add("nothing contributes to this row\n\n");
    add("{:>5}  {:>6}  {:>6}  {:>14}  {:>14}  {:>14}\n", "head", "query", "key", "weight", "dP", "dS");
    double dS = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
      gradient_term const& each = all[n];
      dS += each.dS;
      if (n < most_terms)
        add("{:>5}  {:>6}  {:>6}  {:>14.8g}  {:>14.8g}  {:>14.8g}\n", each.h, each.i,
            each.j < 0 ? std::string("sink") : fmt::format("{}", each.j), each.weight, each.dP, each.dS);
    }
    if (all.size() > most_terms) add("{:>5}  of {} terms\n", "…", all.size());
    add("{}\n\n", of_weights               ? "dV sums weight*dO over these terms"
                  : is(output_kind::dq)    ? "dQ sums scale*dS*k over these terms"
                  : is(output_kind::dk)    ? "dK sums scale*dS*q over these terms"
                  : is(output_kind::dbias) ? "dBias sums dS over these terms, key by key"
                                           : fmt::format("dSink sums dS over these terms: {:.8g}", dS));
  }

  /// The elements of the row in double arithmetic, under other models.
  std::vector<gradient_element> row_under(problem::kernel_model const& forward,
                                          problem::gradient_model const& backward) const {
    auto from = oracle_.source(forward, backward);
    if (!from) return {};
    bool const shared = is(output_kind::dbias) || is(output_kind::dsink);
    std::vector<gradient_element> row;
    for (std::int64_t b = 0; b < p_.size().b; ++b)
      for (std::int64_t g = 0; g < p_.size().hk; ++g) {
        if (!shared && (b != at_[0] || g != (is(output_kind::dq) ? at_[1] / group() : at_[1]))) continue;
        auto const& found = from->group(b, g);
        for (std::int64_t x = 0; !shared && x < columns(); ++x)
          row.push_back(*gradient_oracle<T>::element_of(found, {gradient_of(which_), at_[0], at_[1], at_[2], x}));
      }
    if (shared) {
      auto const sums = is(output_kind::dbias) ? from->dbias() : from->dsink();
      auto const type = input_of(from_.problem.draft(), which_)->type;
      for (std::int64_t x = 0; x < columns(); ++x)
        row.push_back(stored_as<T>(type, sums.at(at_[0], at_[1], at_[2], x)));
    }
    return row;
  }

  std::int64_t columns() const { return places_.shape()[3]; }

  void elements() {
    std::vector<reference::gradient_index> wanted;
    for (std::int64_t x = 0; x < columns(); ++x) wanted.push_back({gradient_of(which_), at_[0], at_[1], at_[2], x});
    auto const enclosed = oracle_.template enclose<128>(wanted);
    auto const known = row_under(oracle_.forward(), oracle_.backward());
    auto const& recorded = from_.outputs.of(which_);
    add("{:>6}  {:>16}  {:>10}{}\n", name_of(which_), "exact", "bound",
        recorded ? fmt::format("  {:>16}  {:>12}", "recorded", "error/bound") : "");
    double worst = 0, largest = 0;
    std::size_t at_largest = 0;
    for (std::size_t x = 0; x < enclosed.size(); ++x) {
      bool const finite = enclosed[x].kind == value_kind::finite;
      double const bound = known.empty() ? reference::infinity : known[x].bound;
      if (std::isfinite(bound) && bound > largest) largest = bound, at_largest = x;
      std::string error_text;
      if (recorded) {
        double const got = load(*recorded, places_.row(at_[0], at_[1], at_[2]) + x);
        double in_bounds = finite ? reference::infinity : 0;
        if (finite && std::isfinite(got)) {
          double const error =
              reference::upper(reference::absolute(exact::from(reference::value_of(got)) - enclosed[x].value));
          in_bounds = error == 0 ? 0 : error / bound;
        } else if (!finite && std::isfinite(got)) {
          in_bounds = enclosed[x].kind == value_kind::unspecified ? 0 : reference::infinity;
        }
        worst = std::max(worst, in_bounds);
        error_text = fmt::format("  {:>16.9g}  {:>12.4f}{}", got, in_bounds, in_bounds > 1 ? "  OUTSIDE" : "");
      }
      if (x >= most_columns) continue;
      add("{:>6}  {:>16}  {:>10}{}\n", x,
          finite                                       ? shown(enclosed[x].value)
          : enclosed[x].kind == value_kind::nan        ? "nan"
          : enclosed[x].kind == value_kind::not_finite ? "not finite"
                                                       : "left open",
          !finite                ? "-"
          : std::isfinite(bound) ? fmt::format("{:.3g}", bound)
                                 : "not judged",
          error_text);
    }
    if (enclosed.size() > most_columns) add("{:>6}  of {} columns\n", "…", enclosed.size());
    if (recorded) add("the worst of {} recorded elements is {:.4f} of its bound away\n", enclosed.size(), worst);
    if (largest > 0) parts_of_bound(largest, at_largest);
  }

  /// How much smaller the largest bound of the row would be without each kind of rounding.
  void parts_of_bound(double largest, std::size_t at) {
    std::vector<std::pair<double, char const*>> found;
    for (bound_part const& part : parts) {
      problem::kernel_model forward = oracle_.forward();
      problem::gradient_model backward = oracle_.backward();
      part.leave_out(forward, backward);
      auto const row = row_under(forward, backward);
      if (!row.empty() && row[at].bound < largest) found.emplace_back(1 - row[at].bound / largest, part.words);
    }
    sort_by(found, [](auto const& each) { return -each.first; });
    add("\nthe bound of element {}, {:.3g}, would be smaller without\n", at, largest);
    for (auto const& [share, words] : found)
      if (share >= 0.001) add("{:>8.1f} %  {}\n", 100 * share, words);
    add("parts may overlap; the rest is sums, and the errors of O and LSE\n");
  }

  problem::instance<T> const& p_;
  problem_file_entry const& from_;
  contract const& claim_;
  output_kind which_;
  std::array<std::int64_t, 3> at_;
  gradient_oracle<T> oracle_;
  gradient_places places_;
  std::string text_;
};

}  // namespace

std::optional<error> gradient_row_fault(problem_file_entry const& from, output_kind which,
                                        std::array<std::int64_t, 3> const& row) {
  owned_problem const& problem = from.problem;
  std::string const name = name_of(which);
  if (!problem.draft().d_out)
    return error{error_code::missing, "--gradient",
                 fmt::format("the problem has no '{}', the upstream gradient", printable(from.name_of("do")))};
  if (!input_of(problem.draft(), which))
    return error{error_code::missing, "--gradient",
                 fmt::format("the problem has no {}, whose gradient {} is", name.substr(1), name)};
  if (!zero_gradient(problem, which))
    return error{error_code::unsupported, "--gradient",
                 fmt::format("{} is a pool of pages, which has no gradient here", name.substr(1))};
  auto const most = gradient_places(problem, which).shape();
  char const* const axes[3]{"entries", "heads", "rows"};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (row[axis] < 0 || row[axis] >= most[axis])
      return error{
          error_code::bad_value, "--row",
          fmt::format("asks for number {} of {} {} of {}, counted from 0", row[axis], most[axis], axes[axis], name)};
  bool const of_keys = which == output_kind::dk || which == output_kind::dv;
  if (!of_keys && which != output_kind::dq) return std::nullopt;
  std::int64_t const used = of_keys ? keys_of(problem, row[0]) : queries_of(problem, row[0]);
  if (row[2] >= used)
    return error{
        error_code::bad_value, "--row",
        fmt::format("asks for {} {}, and entry {} has {} of them", of_keys ? "key" : "query", row[2], row[0], used)};
  return std::nullopt;
}

std::string explained_gradient(problem_file_entry const& from, contract const& claim, output_kind which,
                               std::array<std::int64_t, 3> const& row) {
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        return gradient_explanation<T>(p, from, claim, which, row).text();
      },
      from.problem.instance());
}

}  // namespace attest::audit
