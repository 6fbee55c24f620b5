#include "audit/cause/diagnosis.hpp"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// A mistake of kernels, as a change of the problem: the kernel solves the changed problem instead.
struct mistake {
  char const* sentence;
  audit::bug_class bug_class;
  std::function<bool(problem_draft&)> commit;  ///< false where it does not change the problem
};

std::vector<mistake> const& mistakes() {
  static std::vector<mistake> const all{
      {"the mean of all rows of V", bug_class::weak_test,
       [](problem_draft& p) {
         p.mask.reset(), p.bias.reset();
         static_cast<problem::parameters&>(p) = {.scale = 0};
         return true;
       }},
      {"the mean of the visible rows of V", bug_class::weak_test,
       [](problem_draft& p) {
         p.bias.reset(), p.softcap = 0, p.scale = 0;
         return true;
       }},
      {"the answer without the mask and the band", bug_class::mask_polarity,
       [](problem_draft& p) {
         bool const had = p.mask.has_value() || p.band != problem::band{};
         p.mask.reset(), p.band = {};
         return had;
       }},
      {"the answer without the mask", bug_class::mask_polarity,
       [](problem_draft& p) {
         bool const had = p.mask.has_value();
         p.mask.reset();
         return had;
       }},
      {"the answer with the mask inverted", bug_class::mask_polarity,
       [](problem_draft& p) {
         if (!p.mask) return false;
         for (std::byte& element : p.mask->bytes) element = element == std::byte{0} ? std::byte{1} : std::byte{0};
         return true;
       }},
      {"the answer without the band", bug_class::causal_alignment,
       [](problem_draft& p) {
         bool const had = p.band != problem::band{};
         p.band = {};
         return had;
       }},
      {"the answer with the band aligned top-left", bug_class::causal_alignment,
       [](problem_draft& p) { return std::exchange(p.band.diagonal, 0) != 0; }},
      {"the answer with the band aligned bottom-right", bug_class::causal_alignment,
       [](problem_draft& p) {
         std::int64_t const corner = p.k.layout.shape[2] - p.q.layout.shape[2];
         return p.band != problem::band{} && std::exchange(p.band.diagonal, corner) != corner;
       }},
      {"the answer with a window one key too wide", bug_class::window_edge,
       [](problem_draft& p) {
         bool const had = p.band.left >= 0 || p.band.right >= 0;
         if (p.band.left >= 0) ++p.band.left;
         if (p.band.right >= 0) ++p.band.right;
         return had;
       }},
      {"the answer without the softcap", bug_class::softcap_order,
       [](problem_draft& p) { return std::exchange(p.softcap, 0) != 0; }},
      {"the answer without the bias", bug_class::accuracy,
       [](problem_draft& p) {
         bool const had = p.bias.has_value();
         p.bias.reset();
         return had;
       }},
      {"the answer with scale 1", bug_class::accuracy,
       [](problem_draft& p) {
         p.scale = 1;
         return true;
       }},
      {"the answer with the default scale", bug_class::accuracy,
       [](problem_draft& p) { return std::exchange(p.scale, std::nullopt).has_value(); }},
  };
  return all;
}

/// Is `got` the output of `instead` at this element, up to a thousandth of its distance to the truth?
bool explains(problem_draft instead, violation const& wrong) {
  auto const changed = owned_problem::make(std::move(instead));
  if (!changed) return false;
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        auto const [b, h, i, c] = wrong.index;
        reference::enclosed_row<128, T> row;
        reference::compiled::enclose_row(p, b, h, i, row);
        auto const exact = reference::compiled::output(p, row, c);
        if (row.kind != reference::row_kind::finite || exact.kind != reference::value_kind::finite) return false;
        double const value = reference::upper(exact.value), difference = std::abs(value - wrong.truth_upper);
        return std::abs(wrong.got - value) <= 1e-3 * difference;
      },
      changed.value().instance());
}

/// A mistake is committed on a copy of the problem.
bool can_be_diagnosed(owned_problem const& problem) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  return problem.rank() == 4 && problem.draft().k.bytes.size() + problem.draft().v.bytes.size() <= most_bytes;
}

}  // namespace

diagnosis diagnose(owned_problem const& problem, violation const& wrong) {
  if (wrong.output != "o" || !std::isfinite(wrong.got) || !can_be_diagnosed(problem)) return {};
  for (mistake const& candidate : mistakes()) {
    problem_draft instead = problem.draft();
    if (candidate.commit(instead) && explains(std::move(instead), wrong))
      return {std::string("it equals ") + candidate.sentence, candidate.bug_class};
  }
  return {};
}

}  // namespace attest::audit
