// Hypotheses about gradients: factors and signs, Δ, the LSE, dP, and the derivative of the softcap.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

double minus_one(owned_problem const&) { return -1; }

void add_factors(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  struct named_kinds {
    char const *name, *words;
    gradient_kinds kinds;
    bool several = false;
  };
  named_kinds const of_scores[]{{"dq", "dQ", {dq}}, {"dk", "dK", {dk}}, {"dq-dk", "dQ and dK", {dq, dk}, true}};
  for (auto const& [name, words, kinds, several] : of_scores) {
    char const* const are = several ? "are" : "is";
    add(fmt::format("{}-unscaled", name), fmt::format("{} {} not multiplied by the scale", words, are),
        gradients_at_scale(kinds, [](owned_problem const&) { return 1.0; }));
    add(fmt::format("{}-scaled-twice", name), fmt::format("{} {} multiplied by the scale twice", words, are),
        gradients_times(kinds, sigma_of));
    add(fmt::format("{}-times-log2e", name),
        fmt::format("{} {} too large by log2(e): the factor of scores in base 2 is left in", words, are),
        gradients_times(kinds, [](owned_problem const&) { return std::numbers::log2e; }));
    add(fmt::format("{}-times-ln2", name), fmt::format("{} {} multiplied by ln 2", words, are),
        gradients_times(kinds, [](owned_problem const&) { return std::numbers::ln2; }));
    add(fmt::format("{}-scale-without-sign", name),
        fmt::format("{} {} multiplied by the size of the scale", words, are),
        gradients_times(kinds, [](owned_problem const& p) { return sigma_of(p) < 0 ? -1 : 1; }));
  }
  add("dbias-scaled", "dBias is multiplied by the scale", gradients_times({dbias}, sigma_of));
  for (auto const& [name, words, kinds, several] :
       {named_kinds{"dq", "dQ", {dq}}, named_kinds{"dk", "dK", {dk}}, named_kinds{"dv", "dV", {dv}},
        named_kinds{"dbias", "dBias", {dbias}}, named_kinds{"dsink", "dSink", {dsink}}}) {
    add(fmt::format("{}-negated", name), fmt::format("{} has the other sign", words),
        gradients_times(kinds, minus_one));
    add(fmt::format("{}-zero", name), fmt::format("{} is 0", words),
        gradients_over(kinds, [](owned_problem const&) { return true; }, [](auto&&...) { return false; }));
  }
  add("ds-negated", "dS has the other sign: P*(delta - dP)", gradients_times(of_dS, minus_one));
  auto const heads_of_group = [](owned_problem const& p) {
    return p.size().hk > 0 ? static_cast<double>(p.size().hk) / static_cast<double>(p.size().hq) : 1;
  };
  for (auto const& [name, words, kinds, several] :
       {named_kinds{"dk", "dK", {dk}}, named_kinds{"dv", "dV", {dv}}, named_kinds{"dkv", "dK and dV", {dk, dv}, true}})
    add(fmt::format("{}-mean-of-group", name),
        fmt::format("{} {} the mean over the query heads of a group, not the sum", words, several ? "are" : "is"),
        gradients_times(kinds, heads_of_group));
}

/// A row whose Δ or LSE is taken in the place of another's.
struct taken_row {
  char const *name, *words;
  row_index (*row)(owned_problem const&, row_index const&);
};
std::int64_t heads_of_group(owned_problem const& p) { return p.size().hk > 0 ? p.size().hq / p.size().hk : 1; }
template <std::int64_t block>
row_index before_block(owned_problem const&, row_index const& at) {
  return {at.b, at.h, at.i > 0 && at.i % block == 0 ? at.i - 1 : at.i};
}
constexpr taken_row taken_rows[]{
    {"next-row", "the query behind",
     [](auto const& p, auto const& at) { return row_index{at.b, at.h, std::min(at.i + 1, queries_of(p, at.b) - 1)}; }},
    {"previous-row", "the query before",
     [](auto const&, auto const& at) { return row_index{at.b, at.h, std::max<std::int64_t>(at.i - 1, 0)}; }},
    {"first-row", "query 0, for every query", [](auto const&, auto const& at) { return row_index{at.b, at.h, 0}; }},
    {"first-row-of-block-of-2", "the first query in each pair",
     [](auto const&, auto const& at) { return row_index{at.b, at.h, at.i / 2 * 2}; }},
    {"first-row-of-block-of-16", "the first query in each block of 16",
     [](auto const&, auto const& at) { return row_index{at.b, at.h, at.i / 16 * 16}; }},
    {"first-row-of-block-of-64", "the first query in each block of 64",
     [](auto const&, auto const& at) { return row_index{at.b, at.h, at.i / 64 * 64}; }},
    {"row-before-block-of-16", "the query before, at the first query of each block of 16", before_block<16>},
    {"row-before-block-of-32", "the query before, at the first query of each block of 32", before_block<32>},
    {"row-before-block-of-64", "the query before, at the first query of each block of 64", before_block<64>},
    {"row-before-block-of-128", "the query before, at the first query of each block of 128", before_block<128>},
    {"first-head", "head 0, for every head", [](auto const&, auto const& at) { return row_index{at.b, 0, at.i}; }},
    {"first-head-of-group", "the first head of each group",
     [](auto const& p, auto const& at) { return row_index{at.b, at.h / heads_of_group(p) * heads_of_group(p), at.i}; }},
    {"kv-head", "the query head whose number is that of the head of K and V",
     [](auto const& p, auto const& at) { return row_index{at.b, at.h / heads_of_group(p), at.i}; }},
    {"head-modulo", "the query head h mod hk",
     [](auto const& p, auto const& at) { return row_index{at.b, p.size().hk > 0 ? at.h % p.size().hk : at.h, at.i}; }},
    {"first-entry", "entry 0, for every entry",
     [](auto const& p, auto const& at) { return row_index{at.i < queries_of(p, 0) ? 0 : at.b, at.h, at.i}; }},
};

/// Δ_i is the Δ of row other(p, i) of head h′: term by term, dO_ic·O′_ic = dO_rc·O_rc.
supposition delta_of_row(std::function<row_index(owned_problem const&, row_index const&)> other) {
  return gradients_from({dq, dk, dbias, dsink}, [other = std::move(other)](answered_call& call) {
    problem_draft draft = call.problem.draft();
    owned_tensor const o = *draft.handed_o;
    owned_tensor const& d_out = *call.problem.draft().d_out;
    problem::sizes const& s = call.problem.size();
    bool any = false;
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < queries_of(call.problem, b); ++i) {
          row_index const from = other(call.problem, {b, h, i});
          if (from.b == b && from.h == h && from.i == i) continue;
          for (std::int64_t c = 0; c < s.dv; ++c) {
            auto const place = [&](row_index const& row) {
              return output_row(call.problem, row.b, row.h, row.i) * static_cast<std::size_t>(s.dv) +
                     static_cast<std::size_t>(c);
            };
            double const term = load(d_out, offset_of(d_out, from.b, from.h, from.i, c)) * load(o, place(from)),
                         here = load(d_out, offset_of(d_out, b, h, i, c));
            if (here == 0 && term != 0) return false;
            store(*draft.handed_o, place({b, h, i}), here == 0 ? 0 : term / here);
            any = true;
          }
        }
    if (!any) return false;
    call.problem = owned_problem::of_valid(std::move(draft));
    double const rounded = unit_of(o.type), u = call.claim.model_for(call.problem.instance()).format.u;
    widen_gradients(call, [&](problem::gradient_model& m) { m.k_delta += static_cast<int>(4 + 4 * rounded / u); });
    return true;
  });
}

void add_deltas(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const has_columns = [](owned_problem const& p) { return p.size().dv > 0; };
  auto const wide = [](owned_problem const& p) { return p.size().dv > 1; };
  auto const none = [](auto const&, auto, auto, auto, auto, double) { return 0.0; };
  gradient_kinds const of_delta{dq, dk, dbias, dsink};
  add("delta-forgotten", "dS is P*dP, without delta", with_output(of_delta, has_columns, none));
  add("delta-forgotten-in-ds", "dS is P*dP, without delta, except for the sink", with_output(of_dS, has_columns, none));
  add("delta-added", "dS is P*(dP + delta)",
      with_output(of_dS, has_columns, [](auto const&, auto, auto, auto, auto, double o) { return -o; }));
  add("delta-without-last-column", "delta leaves out the last column of O",
      with_output(of_delta, wide, [](problem_draft const& p, auto, auto, auto, std::int64_t c, double o) {
        return c + 1 == p.v.layout.shape[3] ? 0 : o;
      }));
  add("delta-scaled", "delta is multiplied by the scale",
      with_output(
          of_dS, [](owned_problem const& p) { return p.size().dv > 0 && sigma_of(p) != 1; },
          [](problem_draft const& p, auto, auto, auto, auto, double o) {
            return o * p.scale.value_or(1 / std::sqrt(static_cast<double>(p.q.layout.shape[3])));
          }));
  for (taken_row const& of : taken_rows)
    add(fmt::format("delta-of-{}", of.name), fmt::format("delta is that of {}", of.words), delta_of_row(of.row));
}

void add_logarithms(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const always = [](owned_problem const&) { return true; };
  auto const has_sink = [](owned_problem const& p) { return p.draft().sink.has_value(); };
  auto const zero = [](auto const&, auto const&, double) { return 0.0; };
  gradient_kinds const not_dsink{dq, dk, dv, dbias};
  for (bool const but_dsink : {false, true}) {
    char const *const name = but_dsink ? "-but-in-dsink" : "", *const words = but_dsink ? ", except for dSink" : "";
    auto const& kinds = but_dsink ? not_dsink : all_gradients;
    add(fmt::format("lse-read-in-base-2{}", name),
        fmt::format("the natural LSE is read as a logarithm to the base 2{}", words),
        with_handed_lse(kinds, always, [](auto const&, auto const&, double x) { return x * std::numbers::ln2; }));
    add(fmt::format("lse-expected-in-base-2{}", name), fmt::format("an LSE to the base 2 is expected{}", words),
        with_handed_lse(kinds, always, [](auto const&, auto const&, double x) { return x * std::numbers::log2e; }));
  }
  add("lse-not-subtracted", "weights are e^s: the LSE is not subtracted from the scores",
      with_handed_lse(all_gradients, always, zero));
  add("dsink-unnormalised", "the weight of the sink is e^t in dSink: the LSE is not subtracted",
      with_handed_lse({dsink}, has_sink, zero));
  add("lse-without-sink", "weights are those without the sink",
      with_handed_lse(not_dsink, has_sink, [](owned_problem const& p, row_index const& at, double lse) {
        double const sink = sink_of(p.draft(), at.b, at.h);
        return sink < lse ? lse + std::log1p(-std::exp(sink - lse)) : lse;
      }));
  add("dv-unnormalised", "dV takes the weights e^(s - m): they are not divided by their sum",
      with_handed_lse({dv}, always, [](owned_problem const& p, row_index const& at, double lse) {
        double const most = score_table(p).largest(at.b, at.h, at.i);
        return p.draft().sink ? std::max(most, sink_of(p.draft(), at.b, at.h)) : std::min(most, lse);
      }));
  for (taken_row const& of : taken_rows)
    add(fmt::format("lse-of-{}", of.name), fmt::format("the LSE is that of {}", of.words),
        with_handed_lse(all_gradients, always, [row = of.row](owned_problem const& p, row_index const& at, double) {
          row_index const from = row(p, at);
          return load(*p.draft().handed_lse, output_row(p, from.b, from.h, from.i));
        }));
}

/// The values of columns that are not `taken` are left out of dP.
supposition products_over(std::function<bool(std::int64_t columns, std::int64_t c)> taken, std::int64_t least) {
  return gradients_of(of_dS, [taken = std::move(taken), least](problem_draft& p) {
    std::int64_t const columns = p.v.layout.shape[3];
    if (columns < least) return false;
    owned_tensor const v = p.v;
    auto const& n = v.layout.shape;
    p.v = owned_tensor::compact(v.type, {n[0], n[1], n[2], n[3]});
    fill(p.v,
         [&](auto b, auto h, auto j, auto c) { return taken(columns, c) ? load(v, offset_of(v, b, h, j, c)) : 0.0; });
    return true;
  });
}

}  // namespace

void add_hypotheses_of_deltas(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  add_factors(to);
  add_deltas(to);
  add_logarithms(to);
  add("dp-without-last-column", "dP leaves out the last column of V",
      products_over([](auto columns, auto c) { return c + 1 < columns; }, 2));
  for (std::int64_t const block : {64, 32, 16, 8})
    add(fmt::format("dp-whole-column-blocks-of-{}", block),
        fmt::format("dP leaves out the columns of V behind the last whole block of {}", block),
        products_over([=](auto columns, auto c) { return c < columns / block * block; }, 1));
  auto const square = [](double x) { return x * x; };
  add("softcap-slope-forgotten", "the derivative of the softcap is left out",
      with_slope({dq, dk}, [](double) { return 1.0; }));
  add("softcap-slope-1-minus-tanh", "the derivative of the softcap is taken for 1 - tanh, not 1 - tanh^2",
      with_slope({dq, dk}, [](double y) { return 1 - std::tanh(y); }));
  add("softcap-slope-1-minus-size-of-tanh", "the derivative of the softcap is taken for 1 - |tanh|, not 1 - tanh^2",
      with_slope({dq, dk}, [](double y) { return 1 - std::abs(std::tanh(y)); }));
  add("softcap-slope-of-uncapped", "the derivative of the softcap is that of the uncapped score: 1 - (x/c)^2, or 0",
      with_slope({dq, dk}, [=](double y) { return std::max(0.0, 1 - square(y)); }));
  add("softcap-slope-of-capped", "the derivative of the softcap is that at the capped score",
      with_slope({dq, dk}, [=](double y) { return 1 - square(std::tanh(std::tanh(y))); }));
  add("softcap-slope-twice", "the derivative of the softcap is taken twice",
      with_slope({dq, dk}, [=](double y) { return square(1 - square(std::tanh(y))); }));
}

}  // namespace attest::audit
