// Hypotheses about dO: where its rows are read, and a NaN in it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// Where a kernel with the mistake looks for row (b, h, i) of dO. Nothing where it makes none.
using wrong_layout = std::optional<problem::layout> (*)(answered_call const&);

std::optional<problem::layout> compact_rows(answered_call const& call) {
  problem::sizes const& s = call.problem.size();
  return problem::layout::compact({s.b, s.hq, s.n, s.dv});
}

std::optional<problem::layout> rows_of_output(answered_call const& call) {
  if (!call.problem.draft().has_slots()) return std::nullopt;
  return formed(*compact_rows(call), call_tensor::o, call.memory);
}

/// dO as it lies in memory. The memory beside its rows holds NaN.
owned_tensor laid_out(answered_call const& call) {
  owned_tensor const& from = *call.problem.draft().d_out;
  if (!moves(call.memory, call_tensor::q)) return from;
  auto const layout = formed(from.layout, call_tensor::q, call.memory);
  constexpr std::int64_t most_elements = std::int64_t{1} << 24;
  if (!layout || (layout->shape[0] - 1) * layout->stride[0] > most_elements) return from;
  owned_tensor to{from.type, *layout, {}};
  to.bytes.resize(to.spanned_elements() * problem::size_of(to.type), std::byte{0xff});
  each_row(from, [&](auto b, auto h, auto i) {
    for (std::int64_t c = 0; c < from.layout.shape[3]; ++c)
      store(to, offset_of(to, b, h, i, c), load(from, offset_of(from, b, h, i, c)));
  });
  return to;
}

std::int64_t start_of(problem::layout const& of, std::int64_t b, std::int64_t h, std::int64_t i) {
  return b * of.stride[0] + h * of.stride[1] + i * of.stride[2];
}

/// Is any row of a query read behind the end of dO?
bool leaves_d_out(answered_call const& call, problem::layout const& wrong) {
  auto const elements = static_cast<std::int64_t>(laid_out(call).spanned_elements());
  problem::sizes const& s = call.problem.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    if (std::int64_t const n = queries_of(call.problem, b); n > 0 && s.hq > 0 && s.dv > 0)
      if (start_of(wrong, b, s.hq - 1, n - 1) + s.dv > elements) return true;
  return false;
}

/// Every row of dO is read from where `wrong` says.
supposition reads_d_out(wrong_layout wrong) {
  return gradients_from(all_gradients, [=](answered_call& call) {
    auto const looked = wrong(call);
    if (!looked || leaves_d_out(call, *looked)) return false;
    owned_tensor const from = laid_out(call);
    problem_draft draft = call.problem.draft();
    problem::sizes const& s = call.problem.size();
    bool any = false;
    draft.d_out = owned_tensor::compact(from.type, {s.b, s.hq, s.n, s.dv});
    fill(*draft.d_out, [&](auto b, auto h, auto i, auto c) {
      std::int64_t const at = start_of(*looked, b, h, i), right = start_of(from.layout, b, h, i);
      any |= at != right;
      return load(from, static_cast<std::size_t>((i < queries_of(call.problem, b) ? at : right) + c));
    });
    return any && take(call, std::move(draft));
  });
}

void zero_nan(owned_tensor& t) {
  for (std::size_t at = 0; at < t.spanned_elements(); ++at)
    if (std::isnan(load(t, at))) store(t, at, 0);
}

/// Is a NaN among the numbers of row (b, h, i) of dO or of O, so that Δ is NaN?
bool has_nan_delta(owned_problem const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
  owned_tensor const &d_out = *p.draft().d_out, &o = *p.draft().handed_o;
  auto const columns = static_cast<std::size_t>(p.size().dv);
  for (std::size_t c = 0; c < columns; ++c)
    if (std::isnan(load(d_out, offset_of(d_out, b, h, i, static_cast<std::int64_t>(c)))) ||
        std::isnan(load(o, output_row(p, b, h, i) * columns + c)))
      return true;
  return false;
}

/// Leaves out keys whose V is not finite, of a pass whose Δ is finite: only their own dK, and dQ of the rows that see
/// them, are not finite there. Returns false if that is not so. Other keys are predicted; dQ, dBias and dSink are not.
bool without_broken_keys(answered_call& call, problem_draft&& draft) {
  owned_problem const whole = call.problem;
  problem::sizes const& s = whole.size();
  std::int64_t const heads = s.hk > 0 ? s.hq / s.hk : 1;
  auto const row_is = [](owned_tensor const& t, auto b, auto h, auto i, std::int64_t columns, auto&& right) {
    for (std::int64_t c = 0; c < columns; ++c)
      if (!right(load(t, offset_of(t, b, h, i, c)))) return false;
    return true;
  };
  auto const finite = [](double x) { return std::isfinite(x); };
  auto const broken = [&](auto b, auto h, auto j) { return !row_is(draft.v, b, h / heads, j, s.dv, finite); };
  auto const not_finite = [](double x) { return !std::isfinite(x); };
  if (!call.outputs.dk) return false;
  owned_tensor others = *call.outputs.dk;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < queries_of(whole, b); ++i)
        for (std::int64_t j = 0; j < keys_of(whole, b); ++j) {
          if (!broken(b, h, j) || !sees(whole, b, h, i, j)) continue;
          if (call.outputs.dq && !row_is(*call.outputs.dq, b, h, i, s.d, not_finite)) return false;
          if (!row_is(*call.outputs.dk, b, h / heads, j, s.d, not_finite)) return false;
          for (std::int64_t t = 0; t < s.d; ++t) store(others, offset_of(others, b, h / heads, j, t), 0);
        }
  call.outputs.dk = std::move(others);
  for (output_kind const kind : {dq, dbias, dsink}) call.outputs.of(kind).reset();
  show(draft, s, [&](auto b, auto h, auto i, auto j) { return sees(whole, b, h, i, j) && !broken(b, h, j); });
  return take(call, std::move(draft));
}

struct swallowed_nan {
  bool in_d_out;         ///< a NaN in dO counts as 0
  bool whole_delta;      ///< a Δ that is NaN counts as 0, else the NaN of dO alone in it
  gradient_kinds kinds;  ///< the gradients in which it does
};
supposition swallows(swallowed_nan of) {
  return gradients_from(of.kinds, [of](answered_call& call) {
    owned_problem const& whole = call.problem;
    problem_draft draft = whole.draft();
    problem::sizes const& s = whole.size();
    bool any = false;
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < queries_of(whole, b); ++i) {
          if (!has_nan_delta(whole, b, h, i)) continue;
          any = true;
          std::size_t const row = output_row(whole, b, h, i) * static_cast<std::size_t>(s.dv);
          for (std::size_t c = 0; of.whole_delta && c < static_cast<std::size_t>(s.dv); ++c)
            store(*draft.handed_o, row + c, 0);
        }
    if (of.in_d_out) zero_nan(*draft.d_out);
    if (of.whole_delta && any && !all_of(draft.v, [](double x) { return std::isfinite(x); }))
      return without_broken_keys(call, std::move(draft));
    return any && take(call, std::move(draft));
  });
}

}  // namespace

void add_hypotheses_of_upstream(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const add_layout = [&](char const* name, char const* sentence, wrong_layout wrong) {
    add(name, sentence, reads_d_out(wrong));
    to.back().reads_outside = [=](answered_call const& call) {
      auto const looked = call.problem.draft().d_out ? wrong(call) : std::nullopt;
      return looked && leaves_d_out(call, *looked);
    };
  };
  add_layout("d-out-read-as-compact", "dO is read as if it were compact: its strides are ignored", compact_rows);
  add_layout("d-out-strides-of-o", "dO is read with the strides of O", rows_of_output);
  gradient_kinds const of_products{dq, dk, dbias, dsink};
  add("nan-in-d-out-0", "a NaN in dO counts as 0", swallows({true, false, all_gradients}));
  add("nan-in-d-out-0-in-ds", "a NaN in dO counts as 0 in dP and in delta", swallows({true, false, of_products}));
  add("nan-delta-0", "a delta that is NaN counts as 0", swallows({false, true, of_products}));
  add("nan-in-dp-and-delta-0", "a NaN in dO counts as 0 in dP, and a delta that is NaN counts as 0",
      swallows({true, true, of_products}));
}

}  // namespace attest::audit
