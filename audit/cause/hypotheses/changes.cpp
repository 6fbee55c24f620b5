#include "audit/cause/hypotheses/changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

/// [n, d] is [1, 1, n, d] and [b, n, d] is [b, 1, n, d]; of a mask or bias the rank of the caller is reached first.
problem::layout lifted_layout(problem::layout const& from, int caller_rank) {
  problem::layout to = from;
  auto const insert = [&](int at) {
    for (int axis = to.rank; axis > at; --axis) {
      to.shape[static_cast<std::size_t>(axis)] = to.shape[static_cast<std::size_t>(axis) - 1];
      to.stride[static_cast<std::size_t>(axis)] = to.stride[static_cast<std::size_t>(axis) - 1];
    }
    to.shape[static_cast<std::size_t>(at)] = 1, to.stride[static_cast<std::size_t>(at)] = 0;
    ++to.rank;
  };
  while (to.rank < caller_rank) insert(0);
  if (to.rank == 3) insert(1);
  while (to.rank < 4) insert(0);
  return to;
}

}  // namespace

answered_call of_rank_4(owned_problem const& problem, owned_outputs const& outputs, contract const& claim) {
  problem::sizes const& s = problem.size();
  problem_draft const& given = problem.draft();
  if (!given.has_slots()) {
    problem_draft draft = in_slots(problem);
    owned_outputs handed = in_slots(problem, {.o = given.handed_o, .lse = given.handed_lse});
    draft.handed_o = std::move(handed.o), draft.handed_lse = std::move(handed.lse);
    owned_outputs answers = in_slots(problem, outputs), gradients = gradients_in_slots(problem, outputs);
    for (output_kind const kind : output_kinds)
      if (problem::is_gradient(kind)) answers.of(kind) = std::move(gradients.of(kind));
    return {owned_problem::of_valid(std::move(draft)), std::move(answers), claim, problem};
  }
  answered_call call{problem, outputs, claim};
  auto const of_o = problem::layout::compact({s.b, s.hq, s.n, s.dv}),
             of_lse = problem::layout::compact({s.b, s.hq, s.n});
  if (int const rank = problem.rank(); rank < 4) {
    problem_draft draft = given;
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) t->layout = lifted_layout(t->layout, rank);
    for (auto* t : {&draft.mask, &draft.bias, &draft.d_out})
      if (*t) (*t)->layout = lifted_layout((*t)->layout, rank);
    if (draft.handed_o) draft.handed_o->layout = of_o;
    if (draft.handed_lse) draft.handed_lse->layout = of_lse;
    call.problem = owned_problem::of_valid(std::move(draft));
    for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv, output_kind::dbias})
      if (auto& gradient = call.outputs.of(kind)) gradient->layout = lifted_layout(gradient->layout, rank);
  }
  if (call.outputs.o) call.outputs.o->layout = of_o;
  if (call.outputs.lse) call.outputs.lse->layout = of_lse;
  if (call.outputs.weights) call.outputs.weights->layout = problem::layout::compact({s.b, s.hq, s.n, s.m});
  return call;
}

void add_uses_of_the_first(hypothesis_list& to, bug_class of_class, std::string_view tensor,
                           std::optional<owned_tensor> problem_draft::* of) {
  for (auto const& [axis, name, whose] : {std::tuple{std::size_t{1}, "head", "head uses the {} of head 0"},
                                          std::tuple{std::size_t{0}, "batch", "batch entry uses the {} of entry 0"},
                                          std::tuple{std::size_t{2}, "query", "query uses the {} of query 0"}})
    adds_problems_to(to, of_class)(fmt::format("{}-of-first-{}", tensor, name),
                                   "every " + fmt::format(fmt::runtime(whose), tensor),
                                   solves(
                                       [at = axis, of](owned_problem const& p) {
                                         auto const& whole = p.draft().*of;
                                         return whole && whole->layout.shape[at] > 1;
                                       },
                                       [at = axis, of](problem_draft& p) { (p.*of)->layout.shape[at] = 1; }));
}

std::vector<answered_call> with_problem(answered_call const& call, problem_draft draft) {
  auto made = owned_problem::make(std::move(draft));
  if (!made) return {};
  return {{std::move(made).value(), call.outputs, call.claim}};
}

supposition solves(problem_question concerned, draft_change change) {
  return [concerned = std::move(concerned), change = std::move(change)](
             answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    if (!concerned(call.problem)) return {};
    problem_draft draft = call.problem.draft();
    change(draft);
    return with_problem(call, std::move(draft));
  };
}

supposition has_model(std::function<void(problem::kernel_model&)> widen) {
  return [widen = std::move(widen)](answered_call const& call, answered_call const*) {
    answered_call supposed = with_model(call);
    widen(supposed.claim.fixed);
    return std::vector{std::move(supposed)};
  };
}

double element(owned_tensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const& [rank, shape, stride] = t.layout;
  std::int64_t const at = (shape[0] > 1 ? b * stride[0] : 0) + (shape[1] > 1 ? h * stride[1] : 0) +
                          (shape[2] > 1 ? i * stride[2] : 0) + j * stride[3];
  return load(t, static_cast<std::size_t>(at));
}

double bias_of(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return problem.draft().bias ? element(*problem.draft().bias, b, h, i, j) : 0;
}

double sink_of(problem_draft const& p, std::int64_t b, std::int64_t h) {
  auto const& [rank, shape, stride] = p.sink->layout;
  std::int64_t const from =
      (rank == 2 && shape[0] > 1 ? b * stride[0] : 0) + h * stride[static_cast<std::size_t>(rank - 1)];
  return load(*p.sink, static_cast<std::size_t>(from));
}

double sigma_of(owned_problem const& problem) {
  return problem.draft().scale.value_or(1 / std::sqrt(static_cast<double>(problem.size().d)));
}

double capped(double score, double softcap) { return softcap > 0 ? softcap * std::tanh(score / softcap) : score; }

bool is_small(owned_problem const& problem) {
  problem::sizes const& s = problem.size();
  double const pairs =
      static_cast<double>(s.b) * static_cast<double>(s.hq) * static_cast<double>(s.n) * static_cast<double>(s.m);
  return pairs <= 0x1p21 && pairs * static_cast<double>(s.d) <= 0x1p25;
}

score_table::score_table(owned_problem const& problem) : size_(problem.size()), pairs_(table_of(problem)) {}

std::shared_ptr<score_table::pair_table const> score_table::table_of(owned_problem const& problem) {
  thread_local std::optional<owned_problem> last;  // a copy, so that its address is not another problem's
  thread_local std::shared_ptr<pair_table const> table;
  if (!last || &last->draft() != &problem.draft()) {
    table = std::make_shared<pair_table const>(computed(problem));
    last = problem;
  }
  return table;
}

score_table::pair_table score_table::computed(owned_problem const& problem) {
  problem::sizes const& size = problem.size();
  pair_table pairs;
  double const sigma = sigma_of(problem), cap = problem.draft().softcap;
  problem_draft const& p = problem.draft();
  std::vector<double> k(static_cast<std::size_t>(size.m * size.d)), q(static_cast<std::size_t>(size.d));
  for (std::int64_t b = 0; b < size.b; ++b)
    for (std::int64_t h = 0; h < size.hq; ++h) {
      std::int64_t const hk = reference::key_head(size, h);
      for (std::int64_t j = 0; j < size.m; ++j)
        for (std::int64_t t = 0; t < size.d; ++t)
          k[static_cast<std::size_t>(j * size.d + t)] = load(p.k, offset_of(p.k, b, hk, j, t));
      for (std::int64_t i = 0; i < size.n; ++i) {
        for (std::size_t t = 0; t < q.size(); ++t)
          q[t] = load(p.q, offset_of(p.q, b, h, i, static_cast<std::int64_t>(t)));
        double most = no_score;
        for (std::int64_t j = 0; j < size.m; ++j) {
          double sum = 0;
          for (std::size_t t = 0; t < q.size(); ++t) sum += q[t] * k[static_cast<std::size_t>(j * size.d) + t];
          pairs.scores.push_back(capped(sum * sigma, cap) + bias_of(problem, b, h, i, j));
          pairs.visible.push_back(sees(problem, b, h, i, j));
          if (pairs.visible.back() != 0) most = std::max(most, pairs.scores.back());
        }
        pairs.largest.push_back(most);
      }
    }
  return pairs;
}

double score_table::largest(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t first,
                            std::int64_t last) const {
  key_range const asked{place(b, h, i, 0), first, std::min(last, size_.m)};
  if (asked == asked_) return largest_;
  asked_ = asked, largest_ = no_score;
  for (std::int64_t j = asked.first; j < asked.last; ++j)
    if (visible(b, h, i, j)) largest_ = std::max(largest_, (*this)(b, h, i, j));
  return largest_;
}

double score_table::sum_beside(double beside, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t first,
                               std::int64_t last) const {
  double sum = 0;
  for (std::int64_t j = first; j < std::min(last, size_.m); ++j)
    if (visible(b, h, i, j)) sum += std::exp((*this)(b, h, i, j) - beside);
  return sum;
}

double score_table::sum_of_weights(std::int64_t b, std::int64_t h, std::int64_t i) const {
  return sum_beside(largest(b, h, i), b, h, i, 0, size_.m);
}

bool score_table::is_empty(std::int64_t b, std::int64_t h, std::int64_t i) const {
  for (std::int64_t j = 0; j < size_.m; ++j)
    if (visible(b, h, i, j) && (*this)(b, h, i, j) != no_score) return false;
  return true;
}

void set_bias(problem_draft& draft, problem::sizes const& s, pair_number const& bias) {
  bool const wide = draft.q.type == problem::element_type::f64;
  owned_tensor set =
      owned_tensor::compact(wide ? problem::element_type::f64 : problem::element_type::f32, {s.b, s.hq, s.n, s.m});
  fill(set, bias);
  draft.bias = std::move(set);
}

std::vector<answered_call> with_gains(answered_call call, pair_number const& gain) {
  owned_problem const& p = call.problem;
  problem_draft draft = p.draft();
  bool any = false;
  set_bias(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
    double const more = gain(b, h, i, j);
    any |= more != 0;
    return bias_of(p, b, h, i, j) + more;
  });
  if (!any) return {};
  return with_problem(without_weights(std::move(call)), std::move(draft));
}

std::vector<answered_call> with_further_keys(answered_call const& call, further_keys const& keys) {
  owned_problem const& problem = call.problem;
  problem::sizes s = problem.size();
  std::int64_t const m = s.m, all = m + keys.count;
  problem_draft draft = problem.draft();
  auto const lengthened = [&](owned_tensor const& from, std::int64_t width, auto const& source) {
    owned_tensor to = owned_tensor::compact(from.type, {s.b, s.hk, all, width});
    fill(to, [&](std::int64_t b, std::int64_t h, std::int64_t j, std::int64_t t) {
      if (j < m) return load(from, offset_of(from, b, h, j, t));
      std::optional<std::int64_t> const copied = source(j - m);
      double const x = copied ? load(from, offset_of(from, b, h, *copied, t)) : 0.0;
      return keys.weighs_0 && std::isinf(x) ? std::nan("") : x;
    });
    return to;
  };
  draft.k = lengthened(problem.draft().k, s.d, keys.key);
  draft.v = lengthened(problem.draft().v, s.dv, keys.value);
  s.m = all;
  // Who sees which key is in the mask from here on.
  draft.k_lengths.reset(), draft.block_mask.reset(), draft.align = 0;
  if (draft.keep) {
    owned_tensor const keep = *draft.keep;
    draft.keep = owned_tensor::compact(keep.type, {s.b, s.hq, s.n, all});
    fill(*draft.keep, [&](auto b, auto h, auto i, auto j) { return j < m ? element(keep, b, h, i, j) : 1.0; });
  }
  show(draft, s,
       [&](auto b, auto h, auto i, auto j) { return j < m ? sees(problem, b, h, i, j) : keys.shown(b, h, i, j - m); });
  if (problem.draft().bias || keys.bias)
    set_bias(draft, s, [&](auto b, auto h, auto i, auto j) {
      return j < m ? bias_of(problem, b, h, i, j) : keys.bias ? keys.bias(b, h, i, j - m) : 0.0;
    });
  auto supposed = with_problem(call, std::move(draft));
  if (supposed.empty() || !call.outputs.weights) return supposed;
  auto& weights = supposed.front().outputs.weights;
  weights.reset();
  if (!keys.weight) return supposed;
  weights = owned_tensor::compact(call.outputs.weights->type, {s.b, s.hq, s.n, all});
  fill(*weights, keys.weight);
  return supposed;
}

further_keys copies_of(owned_problem const& problem, std::vector<std::int64_t> keys) {
  further_keys copies;
  copies.count = std::ssize(keys);
  auto const original = [keys = std::move(keys)](std::int64_t n) { return keys[static_cast<std::size_t>(n)]; };
  copies.key = copies.value = [original](std::int64_t n) { return std::optional(original(n)); };
  copies.shown = [&problem, original](auto b, auto h, auto i, auto n) { return sees(problem, b, h, i, original(n)); };
  if (problem.draft().bias)
    copies.bias = [&problem, original](auto b, auto h, auto i, auto n) {
      return bias_of(problem, b, h, i, original(n));
    };
  return copies;
}

std::vector<answered_call> with_nan_rows(answered_call const& call, std::int64_t keys) {
  problem::sizes const& s = call.problem.size();
  if (s.m <= keys || s.d == 0) return {};
  owned_tensor const& q = call.problem.draft().q;
  problem_draft draft = call.problem.draft();
  score_table const score(call.problem);
  bool any = false;
  draft.q = owned_tensor::compact(call.problem.type(), {s.b, s.hq, s.n, s.d});
  fill(draft.q, [&, nothing = false](auto b, auto h, auto i, auto t) mutable {
    if (t == 0) nothing = score.largest(b, h, i, 0, keys) == no_score && score.largest(b, h, i) > no_score;
    any |= nothing;
    return nothing ? std::nan("") : load(q, offset_of(q, b, h, i, t));
  });
  return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
}

}  // namespace attest::audit
