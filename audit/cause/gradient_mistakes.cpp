#include "audit/cause/gradient_mistakes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/judge/judge_gradients.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

/// What the gradients were formed from, and the gradient that was returned.
struct answered_pass {
  owned_problem problem;
  owned_outputs outputs;  ///< o, lse, and one gradient
};

/// One mistake. `suppose` returns another pass, which is right exactly if the given one has the mistake. It returns
/// nothing if the problem leaves no room for the mistake.
struct mistake {
  std::string clause;
  std::vector<output_kind> of;  ///< the gradients that may show it
  std::function<std::optional<answered_pass>(answered_pass const&)> suppose;
};

using enum problem::output_kind;

void scale(owned_tensor& tensor, double factor) {
  for (std::size_t at = 0; at < tensor.spanned_elements(); ++at) store(tensor, at, load(tensor, at) * factor);
}

/// The gradient is `factor` times the right one.
std::optional<answered_pass> times(answered_pass pass, output_kind which, double factor) {
  if (factor == 0 || factor == 1 || !std::isfinite(factor)) return std::nullopt;
  scale(*pass.outputs.of(which), 1 / factor);
  return pass;
}

template <class Change>
std::optional<answered_pass> of_problem(answered_pass const& pass, bool possible, Change&& change) {
  if (!possible) return std::nullopt;
  problem_draft draft = pass.problem.draft();
  change(draft);
  auto changed = owned_problem::make(std::move(draft));
  if (!changed) return std::nullopt;
  return answered_pass{std::move(changed).value(), pass.outputs};
}

/// The kernel takes the pairs of `taken` alone.
std::optional<answered_pass> with_pairs(answered_pass const& pass, bool possible, pair_question const& taken) {
  owned_problem const& whole = pass.problem;
  return of_problem(pass, possible, [&](problem_draft& draft) {
    show(draft, whole.size(),
         [&](auto b, auto h, auto i, auto j) { return sees(whole, b, h, i, j) && taken(b, h, i, j); });
  });
}

void add_factors(std::vector<mistake>& to) {
  for (output_kind const which : {dq, dk}) {
    to.push_back({"it is not multiplied by the scale", {which}, [=](answered_pass const& pass) {
                    return times(pass, which, 1 / sigma_of(pass.problem));
                  }});
    to.push_back({"it is multiplied by the scale twice", {which}, [=](answered_pass const& pass) {
                    return times(pass, which, sigma_of(pass.problem));
                  }});
  }
  for (output_kind const which : {dq, dk, dv, dbias, dsink})
    to.push_back({"it has the other sign", {which}, [=](answered_pass const& pass) { return times(pass, which, -1); }});
}

void add_forward(std::vector<mistake>& to) {
  to.push_back({"dS is P*dP, without delta", {dq, dk, dbias}, [](answered_pass pass) {
                  scale(*pass.outputs.o, 0);
                  return std::optional(std::move(pass));
                }});
  for (auto const& [clause, factor] :
       {std::pair{"the natural LSE is read as a logarithm to the base 2", std::numbers::ln2},
        std::pair{"an LSE to the base 2 is expected", std::numbers::log2e}})
    to.push_back({clause, {dq, dk, dv, dbias}, [factor = factor](answered_pass pass) {
                    scale(*pass.outputs.lse, factor);
                    return std::optional(std::move(pass));
                  }});
}

void add_visibility(std::vector<mistake>& to) {
  auto const add = [&](char const* clause, auto possible, auto change) {
    to.push_back({clause, {dq, dk, dv, dbias, dsink}, [=](answered_pass const& pass) {
                    return of_problem(pass, possible(pass.problem.draft()), change);
                  }});
  };
  add("the mask is not read", [](auto const& p) { return p.mask.has_value(); }, [](auto& p) { p.mask.reset(); });
  add(
      "the block mask is not read", [](auto const& p) { return p.block_mask.has_value(); },
      [](auto& p) { p.block_mask.reset(), p.block_q = p.block_k = 0; });
  auto const banded = [](auto const& p) { return p.band.left >= 0 || p.band.right >= 0; };
  auto const causal = [](auto const& p) { return p.band.right >= 0; };
  add("the band is not read", banded, [](auto& p) { p.band = {}; });
  add("the band ends one key later", causal, [](auto& p) { ++p.band.right; });
  add("the band ends one key earlier", causal, [](auto& p) { --p.band.diagonal, p.band.left += p.band.left >= 0; });
  add("the bias is not added", [](auto const& p) { return p.bias.has_value(); }, [](auto& p) { p.bias.reset(); });
  add("the scores are not softcapped", [](auto const& p) { return p.softcap > 0; }, [](auto& p) { p.softcap = 0; });
  add(
      "dropout is not applied", [](auto const& p) { return p.keep.has_value(); },
      [](auto& p) { p.keep.reset(), p.dropout = 0; });
}

void add_sums(std::vector<mistake>& to) {
  auto const pairs = [&](std::string clause, std::vector<output_kind> of, auto possible, auto taken) {
    to.push_back({std::move(clause), std::move(of), [=](answered_pass const& pass) {
                    problem::sizes const s = pass.problem.size();
                    return with_pairs(pass, possible(pass.problem),
                                      [=](auto b, auto h, auto i, auto j) { return taken(s, b, h, i, j); });
                  }});
  };
  auto const always = [](owned_problem const&) { return true; };
  pairs("the last key is left out", {dq}, always, [](auto& s, auto, auto, auto, auto j) { return j + 1 < s.m; });
  pairs("the last query is left out", {dk, dv}, always, [](auto& s, auto, auto, auto i, auto) { return i + 1 < s.n; });
  for (std::int64_t const block : {128, 64, 32, 16, 8}) {
    pairs(
        fmt::format("keys behind the last whole block of {} are left out", block), {dq},
        [=](owned_problem const& p) { return p.size().m % block != 0; },
        [=](auto& s, auto, auto, auto, auto j) { return j < s.m / block * block; });
    pairs(
        fmt::format("queries behind the last whole block of {} are left out", block), {dk, dv},
        [=](owned_problem const& p) { return p.size().n % block != 0; },
        [=](auto& s, auto, auto, auto i, auto) { return i < s.n / block * block; });
  }
  auto const grouped = [](owned_problem const& p) { return p.size().hq > p.size().hk; };
  for (bool const last : {true, false})
    pairs(fmt::format("it is that of the {} query head of each group", last ? "last" : "first"), {dk, dv}, grouped,
          [=](auto& s, auto, auto h, auto, auto) {
            std::int64_t const group = s.hq / s.hk;
            return h % group == (last ? group - 1 : 0);
          });
  for (bool const last : {true, false})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      char const* const names[]{"entry", "head", "query"};
      pairs(
          fmt::format("it is that of the {} {}, and not the sum over all", last ? "last" : "first", names[axis]),
          {dbias},
          [=](owned_problem const& p) {
            auto const& bias = p.draft().bias;
            return bias && bias->layout.rank == 4 && bias->layout.shape[axis] == 1;
          },
          [=](auto& s, auto b, auto h, auto i, auto) {
            std::int64_t const at[]{b, h, i}, size[]{s.b, s.hq, s.n};
            return at[axis] == (last ? size[axis] - 1 : 0);
          });
    }
}

std::vector<mistake> const& mistakes() {
  static std::vector<mistake> const all = [] {
    std::vector<mistake> list;
    add_factors(list), add_forward(list), add_visibility(list), add_sums(list);
    return list;
  }();
  return all;
}

/// Is every element of the gradient within its bound, as the function of the O and LSE of the pass?
bool is_right(answered_pass const& pass, contract const& claim) {
  judgement const found =
      judge_gradients(pass.problem, pass.outputs, claim, thoroughness::verdict, formed_from::handed_alone);
  return found.failed == 0 && found.undecided == 0 && found.not_certified == 0 && found.judged() > found.not_judged();
}

}  // namespace

std::string gradient_mistake(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                             output_kind kind) {
  if (!outputs.of(kind) || !is_small(problem) || problem.rank() != 4 || !problem.draft().is_dense()) return "";
  problem_draft const forward = with_forward(problem).draft();
  owned_outputs given{.o = outputs.o ? outputs.o : forward.handed_o,
                      .lse = outputs.lse ? outputs.lse : forward.handed_lse};
  if (!given.o || !given.lse) return "";
  given.of(kind) = outputs.of(kind);
  for (mistake const& each : mistakes()) {
    if (std::ranges::find(each.of, kind) == each.of.end()) continue;
    auto const supposed = each.suppose({problem, given});
    bool const has_input = supposed && input_of(supposed->problem.draft(), kind);
    if (has_input && is_right(*supposed, claim)) return each.clause;
  }
  return "";
}

}  // namespace attest::audit
