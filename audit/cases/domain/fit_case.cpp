#include "audit/cases/domain/fit_case.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cases/domain/added_queries.hpp"
#include "audit/cases/domain/choose_surroundings.hpp"
#include "audit/cases/domain/fold.hpp"
#include "audit/cases/domain/surround.hpp"
#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/probe.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/slice.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::result;

bool takes_call(call_domain const& domain, owned_problem const& call) {
  return call.rank() == 4 && !call.draft().merge && domain.takes(call.draft(), call.size());
}

bool takes_all(call_domain const& domain, audit_case const& asked) {
  for (std::size_t at = 0; at <= asked.further.size(); ++at)
    if (!takes_call(domain, asked.call(at))) return false;
  return true;
}

/// Does the larger call pass 2²⁵ elements, or 2²⁶ multiplications? A plain loop takes a second for so many.
bool is_too_large(problem::sizes const& s, surroundings const& by) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 25, most_products = std::int64_t{1} << 26;
  std::int64_t const n = std::max(by.at.n, s.n), m = std::max(by.at.m, s.m);
  auto const width = static_cast<double>(by.d + by.dv),
             pairs = static_cast<double>(s.b * s.hq * n) * static_cast<double>(m);
  return static_cast<double>(s.b * (s.hq * n + s.hk * m)) * width > most_elements || pairs * width > most_products;
}

/// Fits the calls of one case.
class fitter {
 public:
  fitter(audit_case const& asked, call_domain const& domain, bool without_values)
      : asked_(asked), domain_(domain), without_values_(without_values) {
    domain_.needs = domain.needs.in_slots();  // rows move last
  }

  /// `moved`: the tensors that give rows of Q, K or V other places, which each call must have.
  fitted_case made(needed_inputs const& moved) {
    if (auto const why = fit_first()) return {std::nullopt, why->reason};
    for (further_call const& call : asked_.further) add(call);
    if (!asked_.further.empty() && parts_ > 0) add_parts();
    if (made_.reads == reading::weights) add_weight_columns();
    if (moved.move_rows())
      if (auto const why = move_rows(moved)) return {std::nullopt, why->reason};
    if (auto const why = calls_fault(made_)) return {std::nullopt, *why};
    return {std::move(made_), ""};
  }

 private:
  std::optional<error> fit_first() {
    auto first = fitted_call(asked_.problem, asked_.memory, asked_.full_name());
    if (!first) return first.why();
    made_ = asked_;
    made_.further.clear(), made_.form.reset(), made_.recorded = {}, made_.recorded_by.clear(), made_.axis.clear();
    parts_ = std::ranges::count(asked_.further, relation::part, &further_call::is);
    if (asked_.reads == reading::visibility) first = with_digits(std::move(first).value());
    if (!first) return first.why();
    made_.problem = std::move(first).value();
    if (made_.reads == reading::weights && made_.problem.size().dv > made_.problem.size().m)
      return not_in_domain("more columns of V than keys");
    made_.rows = judged_rows();
    return std::nullopt;
  }

  /// Gives each call its offsets or its table. A further call that cannot have them is left out.
  std::optional<error> move_rows(needed_inputs const& needs) {
    auto const moved = [&](owned_problem const& call, memory_form const& memory) -> std::optional<owned_problem> {
      problem_draft draft = call.draft();
      supply(draft, needs);
      if (!needs.all_in(draft)) return std::nullopt;
      owned_problem made = owned_problem::of_valid(std::move(draft));
      return memory_fault(made, memory) ? std::nullopt : std::optional(std::move(made));
    };
    auto first = moved(made_.problem, made_.memory);
    if (!first) return not_in_domain("tensors beside which rows cannot be packed or paged");
    made_.problem = *std::move(first);
    std::erase_if(made_.further, [&](further_call& call) {
      auto other = moved(call.problem, call.memory);
      if (other) call.problem = *std::move(other);
      return !other;
    });
    return std::nullopt;
  }

  /// A call in the domain: the first one, or one of its sizes, to which the same numbers are added.
  result<owned_problem> fitted_call(owned_problem const& given, memory_form const& memory, std::string const& name) {
    if (given.rank() != 4) return not_in_domain("tensors of fewer axes");
    if (given.draft().merge) return not_in_domain("a merge");
    owned_problem call = given;
    if (!domain_.needs.all_in(given.draft())) {
      problem_draft draft = given.draft();
      supply(draft, domain_.needs);
      if (!domain_.needs.all_in(draft)) return not_in_domain("an input that the kernel needs");
      call = owned_problem::of_valid(std::move(draft));
    }
    if (takes_call(domain_, call)) return call;
    auto fold = folded(call, domain_, name);
    if (!fold) return fold.why();
    owned_problem const& base = fold.value().problem;
    if (!base_) {
      auto around = surroundings_of(asked_.check, asked_.reads, domain_, base, name);
      if (!around) return around.why();
      around_ = std::move(around).value(), base_ = base, folded_ = fold.value().changed;
      around_.without_values = without_values_;
    }
    if (is_too_large(base.size(), around_)) return not_in_domain("too large in the sizes of the domain");
    problem_draft draft = surrounded(base.draft(), base_->draft(), around_);
    if (!(memory == memory_form{})) share_values(draft, memory);
    owned_problem fitted = owned_problem::of_valid(std::move(draft));
    if (!takes_call(domain_, fitted)) return not_in_domain("an axis that depends on another");
    if (memory_fault(fitted, memory)) return not_in_domain("a form in memory that other sizes do not have");
    return fitted;
  }

  /// Q = 0 and the digits of probe.hpp for the keys of the larger call. Numbers at keys that were there stay if no key
  /// is added.
  result<owned_problem> with_digits(owned_problem fitted) {
    problem::sizes const& s = fitted.size();
    if (s == asked_.problem.size()) return fitted;
    std::int64_t const digits = probe::digits(fitted.type());
    if (s.m > digits * s.dv) return not_in_domain("more keys than digits");
    problem_draft draft = fitted.draft();
    fill(draft.q, [](auto...) { return 0.0; });
    fill(draft.v, [&](auto, auto, auto j, auto c) {
      return j / digits == c ? std::ldexp(1.0, static_cast<int>(j % digits)) : 0.0;
    });
    return owned_problem::of_valid(std::move(draft));
  }

  /// The judged rows of the first call. If the fit added many rows, a sample of them is judged.
  std::vector<row_index> judged_rows() const {
    problem::sizes const &s = made_.problem.size(), &old = asked_.problem.size();
    if (folded_ || !base_) return {};
    std::vector<row_index> rows;
    bool const whole = asked_.rows.empty(), many = s.n > 32 && s.n > 2 * old.n;
    if (whole && !many) return {};
    std::int64_t const before = around_.at.rows_before;
    auto const was_there = [&](row_index const& row) { return row.i >= before && row.i < before + old.n; };
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i) {
          row_index const row{b, h, i};
          bool const edge = i == 0 || i + 1 == s.n || i % 61 == 0;
          bool const asked = whole || std::ranges::binary_search(asked_.rows, row_index{b, h, i - before});
          if (was_there(row) ? asked : edge) rows.push_back(row);
        }
    return rows;
  }

  void add(further_call const& call) {
    switch (call.is) {
      case relation::part:
      case relation::weight_columns: return;  // made from the first call
      case relation::same_rows: add_rows(call); return;
      case relation::warm_up:
      case relation::same_bits: break;
    }
    bool const alike = call.problem.size() == asked_.problem.size();
    if (call.is == relation::same_bits && !alike) return;
    std::string const name = fmt::format("{}/call {}", asked_.full_name(), made_.further.size() + 1);
    auto fitted =
        alike && base_ ? fitted_call(call.problem, call.memory, asked_.full_name()) : fitted_alone(call, name);
    if (!fitted) return;
    if (call.is == relation::same_bits && base_ &&
        added_queries_tell(made_.problem, fitted.value(), around_.at.rows_before, base_->size().n))
      return;
    made_.further.push_back(call);
    made_.further.back().problem = std::move(fitted).value();
  }

  /// A call of other sizes has surroundings of its own.
  result<owned_problem> fitted_alone(further_call const& call, std::string const& name) const {
    audit_case alone{.check = asked_.check, .name = asked_.name, .problem = call.problem, .memory = call.memory};
    fitter own(alone, domain_, without_values_);
    return own.fitted_call(call.problem, call.memory, name);
  }

  /// Rows of the first call alone: a part of the larger call, if the domain takes it.
  void add_rows(further_call const& call) {
    problem::sizes const &s = call.problem.size(), &first = made_.problem.size();
    if (folded_ || !made_.problem.draft().has_slots()) return;
    selection chosen = selection::all(first);
    std::int64_t const group = first.hk > 0 ? first.hq / first.hk : 1, before = base_ ? around_.at.rows_before : 0;
    auto const from = [](std::int64_t at, std::int64_t count) {
      std::vector<std::int64_t> some;
      for (std::int64_t n = 0; n < count; ++n) some.push_back(at + n);
      return some;
    };
    bool const one_row = s.n < asked_.problem.size().n;
    if (s.hq % group != 0 || call.at[1] % group != 0) return;
    chosen.b = from(call.at[0], s.b), chosen.hk = from(call.at[1] / group, s.hq / group);
    if (one_row) chosen.n = from(before + call.at[2], s.n);
    auto part = sliced(made_.problem, chosen);
    if (!part || !takes_call(domain_, *part)) return;
    made_.further.push_back(call);
    made_.further.back().problem = *std::move(part);
    made_.further.back().at = {call.at[0], call.at[1], one_row ? before + call.at[2] : 0};
  }

  /// As many parts of the keys, each of a size that the domain takes. Beside a sink there are none: each part would
  /// count it.
  void add_parts() {
    if (made_.problem.draft().sink) return;
    problem::sizes const& s = made_.problem.size();
    std::vector<std::int64_t> cuts{0};
    for (std::int64_t part = 1; part < parts_; ++part)
      if (auto const cut = domain_.m.at_most(s.m * part / parts_); cut && *cut > cuts.back()) cuts.push_back(*cut);
    cuts.push_back(s.m);
    for (std::size_t at = 0; at + 1 < cuts.size() && cuts.size() > 2; ++at) {
      selection chosen = selection::all(s);
      chosen.m.clear();
      for (std::int64_t j = cuts[at]; j < cuts[at + 1]; ++j) chosen.m.push_back(j);
      auto part = sliced(made_.problem, chosen);
      if (!part || !takes_call(domain_, *part)) {
        std::erase_if(made_.further, [](further_call const& call) { return call.is == relation::part; });
        return;
      }
      made_.further.push_back({.is = relation::part,
                               .problem = *std::move(part),
                               .says = fmt::format("keys {} to {}", cuts[at], cuts[at + 1]),
                               .at = {}});
    }
  }

  owned_problem with_identity(std::int64_t first) const {
    problem_draft draft = made_.problem.draft();
    fill(draft.v, [&](auto, auto, auto j, auto c) { return j == first + c ? 1.0 : 0.0; });
    return owned_problem::of_valid(std::move(draft));
  }

  /// V := columns of the identity, in as many calls as the keys need; the last one repeats columns.
  void add_weight_columns() {
    problem::sizes const s = made_.problem.size();
    made_.problem = with_identity(0);
    for (std::int64_t at = s.dv; at < s.m; at += s.dv) {
      std::int64_t const first = std::min(at, s.m - s.dv);
      made_.further.push_back({.is = relation::weight_columns,
                               .problem = with_identity(first),
                               .says = fmt::format("weights of keys from {} on", first),
                               .at = {first, 0, 0}});
    }
  }

  audit_case const& asked_;
  call_domain domain_;
  bool without_values_;
  audit_case made_ = asked_;
  surroundings around_{};
  std::optional<owned_problem> base_{};  ///< the first call with the heads and queries of the domain; none: unchanged
  bool folded_ = false;
  std::int64_t parts_ = 0;
};

fitted_case made_in(call_domain const& domain, audit_case const& asked, bool without_values) {
  if (domain.is_everything() || takes_all(domain, asked)) return {asked, ""};
  return fitter(asked, domain, without_values).made(domain.needs);
}

}  // namespace

fitted_case fitted(audit_case const& asked, call_domain const& domain) { return made_in(domain, asked, false); }

bool fits_by_sizes(audit_case const& asked) {
  return std::ranges::find(asked.further, relation::same_bits, &further_call::is) == asked.further.end();
}

fitted_case fitted_sizes(audit_case const& asked, call_domain const& domain) { return made_in(domain, asked, true); }

}  // namespace attest::audit
