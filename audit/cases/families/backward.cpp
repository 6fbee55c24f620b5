#include "audit/cases/families/backward.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/arranged.hpp"
#include "audit/cases/families/sinks.hpp"
#include "audit/cases/families/upstream.hpp"
#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/some_gradients.hpp"

namespace attest::audit {
namespace {

/// The checks of attention whose calls are asked with a dO, and how many of each.
struct borrowed {
  std::string_view check;
  std::size_t cases;
};
constexpr borrowed borrowed_checks[]{
    {"worked-examples", 4}, {"accuracy", 6}, {"sharp", 8},         {"large-scores", 5}, {"value-range", 3},
    {"scale", 5},           {"softcap", 6},  {"bias", 5},          {"masks", 8},        {"empty-rows", 6},
    {"empty-blocks", 4},    {"bands", 8},    {"windows", 5},       {"heads", 6},        {"poison", 6},
    {"special-values", 8},  {"tails", 12},   {"nothing-there", 8}, {"strides", 4},      {"sinks", 10},
    {"lengths", 6},         {"packed", 5},   {"block-masks", 4},   {"dropout", 4},      {"pairs", 8},
};

/// Can the backward pass of this call be asked at the cost of a small one?
bool is_small_call(owned_problem const& problem) {
  constexpr double most_products = 0x1p21;
  problem_draft const& draft = problem.draft();
  return problem.rank() == 4 && !draft.block_table && !draft.merge && multiplications(problem.size()) <= most_products;
}

/// Some cases of the checks of attention, evenly spread over each check. Further calls stay that must have the same
/// bits.
void add_borrowed(case_options const& options, std::vector<audit_case>& to) {
  case_options forward = options;
  forward.checks.clear();
  for (borrowed const& each : borrowed_checks) forward.checks.emplace_back(each.check);
  std::map<std::string, std::vector<audit_case>> by_check;
  for (audit_case& made : generated_cases(forward)) {
    std::erase_if(made.further, [&](further_call const& call) {
      return call.is != relation::same_bits || !call.promised || !is_small_call(call.problem);
    });
    if (is_small_call(made.problem)) by_check[made.check].push_back(std::move(made));
  }
  for (auto const& [check, wanted] : borrowed_checks) {
    std::vector<audit_case>& from = by_check[std::string(check)];
    std::size_t const kept = std::min(from.size(), options.quick ? (wanted + 3) / 4 : wanted);
    for (std::size_t n = 0; n < kept; ++n) {
      audit_case& taken = from[n * from.size() / kept];
      to.push_back({.check = std::string(check_of_gradients),
                    .name = fmt::format("{}-{}", check, taken.name),
                    .problem = std::move(taken.problem),
                    .further = std::move(taken.further),
                    .asks = {.lse = false, .weights = false},
                    .beyond = taken.beyond,
                    .memory = taken.memory});
    }
  }
}

/// The calls that only gradients can get wrong.
class gradient_list {
 public:
  explicit gradient_list(case_options const& options) : list_(options) {}

  template <class F>
  audit_case& add(std::string name, problem::sizes const& s, F&& change) {
    auto random = list_.random(check_of_gradients, name);
    problem_draft draft = gaussian(s, list_.type(), random);
    change(draft, random);
    audit_case& made = list_.add(check_of_gradients, std::move(name), std::move(draft));
    made.asks = {.lse = false, .weights = false};
    return made;
  }
  std::vector<audit_case> take() { return list_.take(); }
  bool quick() const noexcept { return list_.options().quick; }

 private:
  case_list list_;
};

/// The gradients that a case of this name asks for; the others are NULL in the call.
struct asked_gradients {
  std::string_view name;
  gradient_set gradients;
};
using enum problem::output_kind;
constexpr asked_gradients partly_asked[]{{"dq-alone", set_of(dq)},
                                         {"dk-alone", set_of(dk)},
                                         {"dv-alone", set_of(dv)},
                                         {"dq-dk-alone", set_of(dq) | set_of(dk)},
                                         {"dq-dv-alone", set_of(dq) | set_of(dv)},
                                         {"dk-dv-alone", set_of(dk) | set_of(dv)},
                                         {"dbias-alone", set_of(dbias)},
                                         {"dsink-alone", set_of(dsink)}};

problem::operator_row const& pass_of(std::string_view name) {
  auto const at = std::ranges::find(partly_asked, name, &asked_gradients::name);
  return at == std::end(partly_asked) ? problem::backward : pass_for(at->gradients);
}

void add_cancellation(gradient_list& to) {
  // All values are one vector, up to an offset far above their differences: dP ≈ Δ, and dS is a small difference.
  for (double const offset : {0.0, 64.0, 4096.0})
    to.add(fmt::format("equal-dp-{:g}", offset), {1, 2, 2, 9, 17, 16, 16}, [&](auto& p, auto& random) {
      fill(p.v, [&](auto...) { return offset + random.normal() / (offset > 0 ? 64 : 1); });
    });
  to.add("one-value", {1, 2, 1, 7, 12, 8, 8},
         [](auto& p, auto&) { fill(p.v, [](auto, auto, auto, auto c) { return 1 + 0.25 * static_cast<double>(c); }); });
  // One key has all the weight: dS is 0 up to the weights of the others.
  for (double const sharpness : {6.0, 40.0})
    to.add(fmt::format("one-hot-{:g}", sharpness), {1, 2, 2, 16, 16, 32, 16}, [&](auto& p, auto&) {
      fill(p.q, [&](auto, auto, auto i, auto t) { return i == t ? sharpness : 0.0; });
      fill(p.k, [](auto, auto, auto j, auto t) { return j == t ? std::sqrt(32.0) : 0.0; });
    });
  to.add("one-key", {2, 4, 2, 5, 1, 8, 8}, [](auto&, auto&) {});
  to.add("two-keys", {3, 2, 2, 33, 2, 8, 8}, [](auto&, auto&) {});
}

void add_rows_and_groups(gradient_list& to) {
  auto const empty = [](problem_draft& p, std::int64_t every) {
    auto const& n = p.q.layout.shape[2];
    add_mask(p, 1, 1, n, p.k.layout.shape[2],
             [=](auto, auto, auto i, auto j) { return i % every != 1 && (i + j) % 3 != 0; });
  };
  to.add("empty-rows-between", {2, 4, 2, 37, 19, 8, 8}, [&](auto& p, auto&) { empty(p, 3); });
  to.add("all-rows-empty", {1, 2, 2, 5, 7, 8, 8},
         [](auto& p, auto&) { add_mask(p, 1, 1, 5, 7, [](auto...) { return false; }); });
  to.add("unseen-keys", {1, 2, 2, 4, 40, 8, 8}, [](auto& p, auto&) { p.band = {0, 3, 0}; });
  for (std::int64_t const group : {2, 8})
    to.add(fmt::format("group-{}", group), {1, group, 1, 65, 33, 16, 16}, [](auto& p, auto&) { p.band = {0, -1, 0}; });
  to.add("many-queries", {1, 1, 1, 300, 5, 8, 8}, [](auto&, auto&) {});
  to.add("many-keys", {1, 1, 1, 5, 300, 8, 8}, [](auto&, auto&) {});
  to.add("whole-tiles", {1, 2, 2, 128, 128, 64, 64}, [](auto& p, auto&) { p.band = {0, -1, 0}; });
  if (!to.quick()) {  // sizes that are trained
    to.add("grouped-causal-500", {1, 8, 2, 500, 500, 64, 64}, [](auto& p, auto&) { p.band = {0, -1, 0}; });
    to.add("window-700", {1, 2, 2, 700, 700, 128, 128}, [](auto& p, auto&) { p.band = {0, 255, 0}; });
    to.add("cross-192-1000", {2, 2, 2, 192, 1000, 64, 64}, [](auto&, auto&) {});
  }
  to.add("past-a-tile", {2, 2, 1, 129, 65, 64, 64}, [](auto&, auto&) {});
}

void add_shared_inputs(gradient_list& to) {
  for (int const axes : {0, 1, 2, 3, 4, 5, 6, 7}) {
    std::int64_t const b = axes & 4 ? 2 : 1, h = axes & 2 ? 4 : 1, n = axes & 1 ? 9 : 1;
    to.add(fmt::format("bias-{}{}{}m", b > 1 ? "b" : "1", h > 1 ? "h" : "1", n > 1 ? "n" : "1"), {2, 4, 2, 9, 13, 8, 8},
           [=](auto& p, auto& random) { add_bias(p, b, h, n, 13, [&](auto...) { return random.normal(); }); });
  }
  for (std::int64_t const m : {1, 8, 64})
    to.add(fmt::format("sink-m{}", m), {2, 4, 2, 11, m, 8, 8},
           [](auto& p, auto& random) { add_sink(p, 0, [&](auto, auto) { return 1 + random.normal(); }); });
  to.add("softcap-steep", {1, 2, 2, 9, 17, 8, 8}, [](auto& p, auto&) {
    p.softcap = 1;
    fill(p.q, [](auto, auto, auto i, auto t) { return t == 0 ? 0.5 * static_cast<double>(i) : 0.0; });
    fill(p.k, [](auto, auto, auto j, auto t) { return t == 0 ? static_cast<double>(j % 5) : 0.0; });
  });
}

/// What kernels assume that are right in ordinary calls: compact tensors, positive scales, few heads, few rows.
void add_unusual_calls(gradient_list& to) {
  problem::sizes const s{2, 4, 2, 9, 13, 8, 8};
  for (std::string_view const form : upstream_forms()) to.add(std::string(form), s, [](auto&, auto&) {});
  for (asked_gradients const& part : partly_asked)
    to.add(std::string(part.name), s, [&](auto& p, auto& random) {
      if (part.gradients & set_of(dbias)) add_bias(p, 1, 4, s.n, s.m, [&](auto...) { return random.normal(); });
      if (part.gradients & set_of(dsink)) add_sink(p, 0, [&](auto, auto) { return random.normal(); });
    });
  to.add("gradients-heads-inside", s, [](auto&, auto&) {}).memory = {.o_inside = true};
  to.add("gradients-with-gaps", s, [](auto&, auto&) {}).memory = {.row_gap = 5, .head_gap = 3};
  to.add("threads", {1, 4, 2, 40, 70, 16, 16}, [](auto& p, auto&) {
      p.band = {0, -1, 0};
    }).also_with_threads({1, 2, 5});
  to.add("hidden-rows-hold-nan", s, [&](auto& p, auto&) {
    add_mask(p, 1, 1, s.n, s.m, [](auto, auto, auto i, auto) { return i % 3 != 1; });
    fill(p.q, [&](auto b, auto h, auto i, auto t) {
      return i % 3 == 1 ? std::numeric_limits<double>::quiet_NaN() : load(p.q, offset_of(p.q, b, h, i, t));
    });
  });
  to.add("do-holds-nan", s, [](auto&, auto&) {});
  to.add("do-holds-infinity", s, [](auto&, auto&) {});
  to.add("rows-of-minus-infinity", s, [&](auto& p, auto& random) {  // keys that are seen, without a weight
    add_bias(p, 1, 1, s.n, s.m, [&](auto, auto, auto i, auto j) {
      double const normal = random.normal();
      return i % 4 == 2 || (i + j) % 5 == 0 ? -std::numeric_limits<double>::infinity() : normal;
    });
  });
  to.add("scale-negative", s, [](auto& p, auto&) { p.scale = -0.5; });
  to.add("softcap-beside-bias", s, [](auto& p, auto& random) {
    p.softcap = 1;
    add_bias(p, 1, 4, 9, 13, [&](auto...) { return 2 * random.normal(); });
  });
  to.add("blocks", {2, 2, 2, 20, 28, 8, 8}, [](auto& p, auto&) {
    p.block_q = p.block_k = 8;
    p.block_mask = owned_tensor::compact(problem::element_type::u8, {2, 2, 3, 4});
    fill(*p.block_mask, [](auto b, auto h, auto i, auto j) { return (b + h + i + 2 * j) % 3 != 0 ? 1.0 : 0.0; });
  });
  to.add("heads-24", {1, 24, 6, 3, 5, 8, 8}, [](auto&, auto&) {});
  to.add("queries-1100", {1, 1, 1, 1100, 3, 8, 8}, [](auto&, auto&) {});
  to.add("keys-1100", {1, 1, 1, 3, 1100, 8, 8}, [](auto&, auto&) {});
  to.add("columns-96", {1, 1, 1, 9, 17, 96, 96}, [](auto&, auto&) {});
  to.add("columns-128-causal", {1, 1, 1, 66, 66, 128, 128}, [](auto& p, auto&) { p.band = {0, -1, 0}; });
}

/// Many features in one call: a mistake in two of them beside each other shows.
void add_features_together(gradient_list& to) {
  problem::sizes const s{2, 4, 2, 9, 13, 8, 8};
  auto const half = [](problem_draft& p, auto& random) {
    p.softcap = 2, p.scale = 0.25, p.align = 1;
    p.band = {0, 6, 0};
    add_sink(p, 0, [&](auto, auto) { return random.normal(); });
    set_lengths(p, {7, 9}, {13, 8});
  };
  auto const drop = [](problem_draft& p) {
    p.dropout = 0.25;
    p.keep = owned_tensor::compact(problem::element_type::u8, {2, 4, 9, 13});
    fill(*p.keep, [](auto b, auto h, auto i, auto j) { return (b + 2 * h + 3 * i + j) % 4 != 0 ? 1.0 : 0.0; });
  };
  to.add("together-in-slots", s, [&](auto& p, auto& random) {
    half(p, random), drop(p);
    add_bias(p, 1, 4, s.n, s.m, [&](auto...) { return random.normal(); });
    add_mask(p, 2, 1, s.n, s.m, [](auto b, auto, auto i, auto j) { return (b + i + 2 * j) % 5 != 0; });
  });
  to.add("together-packed", s, [&](auto& p, auto& random) {
    half(p, random);
    pack_queries(p, 1), pack_keys(p, 1);
  });
  to.add("together-causal", s, [&](auto& p, auto& random) {
    drop(p), p.band = {0, -1, 0};
    add_bias(p, 2, 1, s.n, s.m, [&](auto...) { return random.normal(); });
  });
  to.add("columns-256", {2, 2, 1, 5, 9, 256, 256}, [](auto&, auto&) {});
}

}  // namespace

std::vector<audit_case> backward_cases(case_options const& options) {
  if (!options.wants(check_of_gradients)) return {};
  std::vector<audit_case> cases;
  gradient_list own(options);
  add_cancellation(own);
  add_rows_and_groups(own);
  add_shared_inputs(own);
  add_unusual_calls(own);
  add_features_together(own);
  std::ranges::move(own.take(), std::back_inserter(cases));
  add_borrowed(options, cases);
  return cases;
}

audit_case differentiated(audit_case of, std::uint64_t seed) {
  auto const backward = [&](owned_problem const& problem) {
    problem_draft draft = problem.draft();
    draft.of = &pass_of(of.name);
    draft.d_out = d_out_of(problem, of.name, seed);
    return owned_problem::of_valid(std::move(draft));
  };
  of.problem = backward(of.problem);
  for (further_call& call : of.further) call.problem = backward(call.problem);
  of.form.reset();
  of.rows.clear();
  return of;
}

void judge_sample(audit_case& of, std::int64_t products, std::uint64_t seed) {
  random_stream random(seed, "backward/rows/" + of.name);
  of.rows = sampled_gradients(of.problem, products, random);
}

}  // namespace attest::audit
