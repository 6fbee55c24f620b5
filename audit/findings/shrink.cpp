#include "audit/findings/shrink.hpp"

#include <algorithm>
#include <cmath>

#include "audit/cases/row_sample.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/slice.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;
using indices = std::vector<std::int64_t>;

/// x rounded to nearest with `digits` bits after the leading one. Requires x finite and not 0.
double shortened(double x, int digits) {
  int const unit = std::max(std::ilogb(x) - digits, -1074);
  return std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
}

std::size_t elements_of(owned_tensor const& t) { return t.bytes.size() / problem::size_of(t.type); }

/// The case with only the calls that a violation needs.
audit_case only_needed(audit_case const& failing, violation const& wrong) {
  audit_case needed = failing;
  needed.callers = 0;
  if (wrong.call == 0) {  // a warm-up call may have left state that matters; other calls do not
    if (failing.reads != reading::weights)
      std::erase_if(needed.further,
                    [](further_call const& call) { return call.is != relation::warm_up && call.is != relation::part; });
    return needed;
  }
  further_call const call = failing.further[wrong.call - 1];
  if (call.is == relation::same_bits || call.is == relation::same_rows) {
    std::erase_if(needed.further, [&](further_call const& further) {
      return &further - needed.further.data() != static_cast<std::ptrdiff_t>(wrong.call - 1);
    });
    return needed;
  }
  if (failing.reads == reading::weights) return needed;
  needed.problem = call.problem;  // the outputs of this call are wrong by themselves
  needed.memory = call.memory;
  needed.further.clear();
  return needed;
}

/// It says nothing of merges, nor of packed and paged tensors, which have no slots.
bool takes_all(call_domain const& domain, audit_case const& asked) {
  for (std::size_t call = 0; call <= asked.further.size(); ++call) {
    problem_draft const& p = asked.call(call).draft();
    if (p.merge || !p.has_slots()) continue;
    if (!domain.takes(p, asked.call(call).size())) return false;
  }
  return true;
}

class shrinker {
 public:
  shrinker(audit_case start, violation kind, case_runner const& run, clock::time_point until, call_domain const& domain)
      : best_(std::move(start)), kind_(std::move(kind)), run_(run), until_(until), domain_(domain) {
    if (!takes_all(domain_, best_)) domain_ = {};
  }

  bool fails() {
    auto const wrong = failure(best_);
    if (wrong) what_ = *wrong;
    return wrong.has_value();
  }

  void run() {
    // All calls of the case are cut in the same way, which needs equal sizes.
    problem::sizes const s = best_.problem.size();
    if (std::ranges::all_of(best_.further, [&](further_call const& call) { return call.problem.size() == s; }) &&
        best_.reads != reading::visibility) {
      for (bool again = true; again && !late();) again = slice();
      simplify_options();
      for (bool again = true; again && !late();) again = slice();
    }
    simplify_numbers();
  }

  shrunk_case take() && { return {std::move(best_), std::move(what_)}; }

 private:
  bool late() const { return clock::now() >= until_; }

  std::optional<violation> failure(audit_case const& candidate) const {
    case_result const result = run_(candidate);
    auto const at = std::ranges::find_if(result.judged.violations,
                                         [&](violation const& wrong) { return is_of_class(wrong, kind_); });
    if (at == result.judged.violations.end()) return std::nullopt;
    return *at;
  }

  bool take_if_fails(audit_case&& candidate) {
    if (late() || !takes_all(domain_, candidate)) return false;
    auto wrong = failure(candidate);
    if (!wrong) return false;
    best_ = std::move(candidate), what_ = *std::move(wrong);
    return true;
  }

  /// Tries the case with another first problem.
  bool take_if_fails(problem_draft&& simpler) {
    audit_case candidate = best_;
    // The LSE of the parts determines which parts of a merge are read.
    if (simpler.merge) simpler = merge_draft(parts_of(simpler), simpler.merge->answer);
    candidate.problem = owned_problem::of_valid(std::move(simpler));
    return take_if_fails(std::move(candidate));
  }

  problem::sizes sizes_of(selection const& chosen) const {
    problem::sizes s = best_.problem.size();
    s.hq = std::ssize(chosen.hk) * (chosen.query_head >= 0 || s.hk == 0 ? 1 : s.hq / s.hk);
    s.b = std::ssize(chosen.b), s.hk = std::ssize(chosen.hk), s.n = std::ssize(chosen.n), s.m = std::ssize(chosen.m);
    s.d = std::ssize(chosen.d), s.dv = std::ssize(chosen.dv);
    return s;
  }
  /// The domain takes no call of these sizes: that is known before the part is made.
  bool is_outside(selection const& chosen) const {
    return !best_.problem.draft().merge && !domain_.takes(sizes_of(chosen));
  }

  bool try_selection(selection const& chosen) {
    if (is_outside(chosen) || sizes_of(chosen) == best_.problem.size()) return false;
    audit_case candidate = best_;
    auto first = sliced(best_.problem, chosen);
    if (!first) return false;
    candidate.rows = kept_rows(best_.rows, best_.problem.size(), chosen);
    candidate.form.reset();
    candidate.problem = *std::move(first);
    for (further_call& call : candidate.further) {
      auto part = sliced(call.problem, chosen);
      if (!part) return false;
      call.problem = *std::move(part);
    }
    return take_if_fails(std::move(candidate));
  }

  /// Tries once to shorten every axis. Returns whether the case became smaller.
  bool slice() {
    bool smaller = false;
    // The wrong row alone is tried first.
    problem::sizes const s = best_.problem.size();
    bool const in_first = what_.call == 0 || best_.further.empty();
    if (in_first && what_.index[0] < s.b && what_.index[1] < s.hq && what_.index[2] < s.n && s.hk > 0) {
      selection row = selection::all(s);
      row.b = {what_.index[0]};
      row.hk = {what_.index[1] / (s.hq / s.hk)};
      row.query_head = what_.index[1] % (s.hq / s.hk);
      row.n = {what_.index[2]};
      smaller = try_selection(row);
      if (is_outside(row)) row.n = selection::all(s).n, smaller = try_selection(row);
      if (is_outside(row)) row.query_head = -1, smaller = try_selection(row);
    }
    problem::sizes const now = best_.problem.size();
    bool const equal_lengths = domain_.queries == call_domain::lengths::equal && now.n == now.m;
    bool const equal_widths = domain_.dv == call_domain::value_widths::same;
    smaller = halve(domain_.batch, {&selection::b}) || smaller;
    smaller = halve(domain_.kv_heads, {&selection::hk}) || smaller;
    if (!equal_lengths) smaller = halve(domain_.n, {&selection::n}) || smaller;
    if (!equal_widths) smaller = halve(domain_.d, {&selection::d}) || smaller;
    // Column c of a V through which weights are read belongs to one key.
    if (best_.reads == reading::weights) return smaller;
    if (equal_lengths) smaller = halve(domain_.n, {&selection::n, &selection::m}) || smaller;
    else smaller = halve(domain_.m, {&selection::m}) || smaller;
    if (equal_widths) smaller = halve(domain_.d, {&selection::d, &selection::dv}) || smaller;
    else smaller = halve({}, {&selection::dv}) || smaller;
    return smaller;
  }

  /// Removes runs of indices of one axis, or of two axes of one size, long runs first (delta debugging, Zeller and
  /// Hildebrandt 2002). The runs are multiples of the granule, and one stays: without keys, or with d = 0, it is
  /// another problem, whose answer may be wrong for another reason.
  bool halve(size_set const& sizes, std::initializer_list<indices selection::*> axes) {
    bool smaller = false;
    auto const count = [&] { return std::ssize(selection::all(best_.problem.size()).**axes.begin()); };
    auto const half = [&](std::int64_t whole) { return whole / 2 / sizes.granule * sizes.granule; };
    for (std::int64_t run = half(count()); run >= 1 && !late(); run = half(run))
      for (std::int64_t at = 0; at + run <= count() && count() > run && !late();) {
        selection chosen = selection::all(best_.problem.size());
        for (auto const axis : axes)
          (chosen.*axis).erase((chosen.*axis).begin() + at, (chosen.*axis).begin() + at + run);
        if (try_selection(chosen)) smaller = true;
        else at += run;
      }
    return smaller;
  }

  void simplify_options() {
    auto const changed = [](owned_problem const& from, auto&& change) {
      problem_draft draft = from.draft();
      change(draft);
      return owned_problem::of_valid(std::move(draft));
    };
    auto const without = [&](auto&& change) {
      audit_case candidate = best_;
      candidate.problem = changed(best_.problem, change);
      for (further_call& call : candidate.further) call.problem = changed(call.problem, change);
      take_if_fails(std::move(candidate));
    };
    if (best_.problem.draft().merge) return;  // its mask and its bias are the LSE of the parts
    auto const packed = [](problem_draft const& p) { return !p.has_slots(); };
    if (packed(best_.problem.draft()))
      without([&](problem_draft& p) {
        if (packed(p)) p = in_slots(owned_problem::of_valid(p));
      });
    std::vector<std::optional<owned_tensor> problem_draft::*> removable{
        &problem_draft::mask, &problem_draft::bias, &problem_draft::sink, &problem_draft::block_mask,
        &problem_draft::keep};
    if (!packed(best_.problem.draft()))
      removable.insert(removable.end(), {&problem_draft::q_lengths, &problem_draft::k_lengths});
    for (auto const tensor : removable)
      if (best_.problem.draft().*tensor)
        without([&](problem_draft& p) {
          (p.*tensor).reset();
          if (!p.keep) p.dropout = 0;
          if (!p.block_mask) p.block_q = p.block_k = 0;
        });
    problem::visit_simplest([&](auto const member, auto const& simplest) {
      auto const& now = best_.problem.draft().*member;
      if (now != problem::parameters{}.*member && now != simplest)
        without([&](problem_draft& p) { p.*member = simplest; });
    });
  }

  /// Replaces numbers by 0 or by numbers of few bits. Only in cases without further calls, which might have to share
  /// them.
  void simplify_numbers() {
    if (!best_.further.empty() || best_.reads != reading::nothing) return;
    std::vector<owned_tensor& (*)(problem_draft&)> tensors{[](problem_draft& p) -> owned_tensor& { return p.q; },
                                                           [](problem_draft& p) -> owned_tensor& { return p.k; },
                                                           [](problem_draft& p) -> owned_tensor& { return p.v; }};
    if (best_.problem.draft().merge) tensors.push_back([](problem_draft& p) -> owned_tensor& { return *p.bias; });
    if (best_.problem.draft().d_out) tensors.push_back([](problem_draft& p) -> owned_tensor& { return *p.d_out; });
    for (auto const tensor : tensors) {
      for (int const bits : {0, 2, 6}) {
        problem_draft simpler = best_.problem.draft();
        owned_tensor& t = tensor(simpler);
        for (std::size_t at = 0; at < elements_of(t); ++at) {
          double const x = load(t, at);
          if (std::isfinite(x) && x != 0) store(t, at, shortened(x, bits));
        }
        if (take_if_fails(std::move(simpler))) break;
      }
      problem_draft now = best_.problem.draft();
      std::size_t const elements = elements_of(tensor(now));
      for (std::size_t at = 0; at < elements && elements <= 64 && !late(); ++at)
        for (double const simple : {0.0, 1.0}) {
          problem_draft simpler = best_.problem.draft();
          double const x = load(tensor(simpler), at);
          if (x == simple || x == 0) break;
          store(tensor(simpler), at, simple);
          if (take_if_fails(std::move(simpler))) break;
        }
    }
  }

  audit_case best_;
  violation what_;
  violation kind_;
  case_runner const& run_;
  clock::time_point until_;
  call_domain domain_;
};

}  // namespace

std::optional<shrunk_case> shrink(audit_case const& failing, violation const& wrong, case_runner const& run,
                                  clock::time_point until, call_domain const& domain) {
  if (failing.problem.rank() != 4) return std::nullopt;
  shrinker work(only_needed(failing, wrong), wrong, run, until, domain);
  if (!work.fails()) return std::nullopt;
  work.run();
  return std::move(work).take();
}

}  // namespace attest::audit
