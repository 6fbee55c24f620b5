#include "audit/judge/forward_answers.hpp"

#include <limits>
#include <utility>
#include <variant>

#include "audit/judge/row_truth.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/machine/rows.hpp"

namespace attest::audit {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
class forward_writer {
  static constexpr unsigned width = first_width;

 public:
  forward_writer(problem::instance<T> const& p, owned_problem const& problem, owned_outputs& to)
      : p_(p), problem_(problem), to_(to) {}

  void write_all() {
    auto source = reference::machine::row_source<T>::make(p_);
    for (std::int64_t b = 0; b < p_.size().b; ++b)
      for (std::int64_t h = 0; h < p_.size().hq; ++h) {
        if (!source) {
          for (std::int64_t i = 0; i < p_.queries(b); ++i) from_balls(b, h, i);
          continue;
        }
        source.value().each(b, h, 0, p_.queries(b), [&](reference::machine::certified_row const& row) {
          row.handed_over ? from_balls(b, h, row.i) : from_machine(row);
        });
      }
  }

 private:
  void put(std::size_t row, std::int64_t c, double x) {
    store(*to_.o, row * static_cast<std::size_t>(p_.size().dv) + static_cast<std::size_t>(c), x);
  }

  void from_machine(reference::machine::certified_row const& row) {
    std::size_t const at = output_row(problem_, row.b, row.h, row.i);
    for (std::int64_t c = 0; c < p_.size().dv; ++c) {
      auto const column = static_cast<std::size_t>(c);
      if (row.o_radius[column] < reference::infinity) put(at, c, row.o[column]);
      else put_from_balls(at, row.b, row.h, row.i, c);
    }
    store(*to_.lse, at, row.lse);
  }

  reference::enclosed_row<width, T> const& balls(std::int64_t b, std::int64_t h, std::int64_t i) {
    reference::compiled::enclose_row(p_, b, h, i, row_);
    return row_;
  }

  void put_from_balls(std::size_t at, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) {
    put(at, c, value_of(reference::compiled::output(p_, balls(b, h, i), c)));
  }

  void from_balls(std::int64_t b, std::int64_t h, std::int64_t i) {
    std::size_t const at = output_row(problem_, b, h, i);
    balls(b, h, i);
    for (std::int64_t c = 0; c < p_.size().dv; ++c) put(at, c, value_of(reference::compiled::output(p_, row_, c)));
    store(*to_.lse, at,
          row_.kind == reference::row_kind::nan     ? nan
          : row_.kind == reference::row_kind::empty ? lse_of_empty(row_)
                                                    : middle(reference::compiled::log_sum_exp(row_)));
  }

  static double middle(reference::ball<width> const& x) noexcept { return lower(x) / 2 + upper(x) / 2; }
  static double value_of(reference::enclosed_value<width> const& x) noexcept {
    return x.kind == reference::value_kind::finite ? middle(x.value) : nan;
  }

  problem::instance<T> const& p_;
  owned_problem const& problem_;
  owned_outputs& to_;
  reference::enclosed_row<width, T> row_;
};

}  // namespace

owned_problem with_forward(owned_problem const& problem) {
  if (problem.draft().of->handed.empty() || problem.draft().handed_o) return problem;
  owned_outputs forward = zero_outputs(problem);
  std::visit([&]<class T>(problem::instance<T> const& p) { forward_writer<T>(p, problem, forward).write_all(); },
             problem.instance());
  problem_draft draft = problem.draft();
  draft.handed_o = std::move(forward.o), draft.handed_lse = std::move(forward.lse);
  return owned_problem::of_valid(std::move(draft));
}

audit_case with_forward(audit_case of) {
  of.problem = with_forward(of.problem);
  for (further_call& call : of.further) call.problem = with_forward(call.problem);
  return of;
}

}  // namespace attest::audit
