// Hypotheses about inputs that are misread or rounded, and about answers of earlier calls.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using tensor_of_draft = owned_tensor problem_draft::*;

/// Every element of some inputs through `f`. Supposes nothing if that changes no element.
supposition maps_inputs(std::vector<tensor_of_draft> which, std::function<double(double, problem::element_type)> f) {
  return [which = std::move(which), f = std::move(f)](answered_call const& call,
                                                      answered_call const*) -> std::vector<answered_call> {
    problem_draft draft = call.problem.draft();
    bool changed = false;
    for (tensor_of_draft const member : which) {
      owned_tensor& t = draft.*member;
      for (std::size_t at = 0; at < t.bytes.size() / problem::size_of(t.type); ++at) {
        double const was = load(t, at), is = f(was, t.type);
        if (was == is || std::isnan(was)) continue;
        store(t, at, is), changed = true;
      }
    }
    return changed ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
  };
}

/// The number of so many binary digits next to x.
double of_digits(double x, int digits) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  double const fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

bool has_gaps(owned_tensor const& t) { return t.layout.shape[2] > 1 && t.layout.stride[2] != t.layout.shape[3]; }

/// The rows of a head are read as if they had no gaps.
supposition ignores_row_stride(tensor_of_draft which) {
  return solves([=](owned_problem const& p) { return has_gaps(p.draft().*which); },
                [=](problem_draft& p) { (p.*which).layout.stride[2] = (p.*which).layout.shape[3]; });
}

/// Rows of a mask or bias are read as if they had no gaps.
supposition ignores_row_stride(std::optional<owned_tensor> problem_draft::* which) {
  return solves(
      [=](owned_problem const& p) {
        auto const& t = p.draft().*which;
        return t && has_gaps(*t);
      },
      [=](problem_draft& p) { (p.*which)->layout.stride[2] = (p.*which)->layout.shape[3]; });
}

/// Entries of the batch are as far apart as heads.
supposition batch_by_heads(tensor_of_draft which) {
  return solves(
      [=](owned_problem const& p) {
        auto const& layout = (p.draft().*which).layout;
        return layout.shape[0] > 1 && layout.stride[0] > layout.stride[1];
      },
      [=](problem_draft& p) { (p.*which).layout.stride[0] = (p.*which).layout.stride[1]; });
}

/// The index of an element in its head wraps at 2¹⁶.
supposition wraps_index(tensor_of_draft which) {
  return [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_tensor const& from = call.problem.draft().*which;
    auto const& [rank, shape, stride] = from.layout;
    constexpr std::int64_t wrap = 65536;
    std::int64_t const row = stride[2];
    if (row <= 0 || shape[2] * row <= wrap) return {};
    problem_draft draft = call.problem.draft();
    owned_tensor to = owned_tensor::compact(from.type, {shape[0], shape[1], shape[2], shape[3]});
    fill(to, [&](auto b, auto h, auto j, auto c) {
      std::int64_t const index = (j * row + c) % wrap;
      return load(from, static_cast<std::size_t>(b * stride[0] + h * stride[1] + index));
    });
    draft.*which = std::move(to);
    return with_problem(call, std::move(draft));
  };
}

/// Entry 0 of an axis of K and V stands for all.
supposition first_of_axis(std::size_t axis) {
  return solves([=](owned_problem const& p) { return p.draft().k.layout.shape[axis] > 1; },
                [=](problem_draft& p) { p.k.layout.stride[axis] = p.v.layout.stride[axis] = 0; });
}

/// The answer of the call before is given again.
std::vector<answered_call> answers_before(answered_call const& call, answered_call const* before) {
  if (!before) return {};
  problem::sizes const &a = call.problem.size(), &b = before->problem.size();
  if (a.b != b.b || a.hq != b.hq || a.n != b.n || a.dv != b.dv || call.problem.type() != before->problem.type())
    return {};
  answered_call supposed{before->problem, call.outputs, call.claim};
  if (a.m != b.m) supposed.outputs.weights.reset();
  return {supposed};
}

/// Each product q_t·k_t is rounded before the sum: the scores change by σ·Σ (R(q_t·k_t) − q_t·k_t).
supposition rounds_products(problem::binary_format const& to) {
  return [&to](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || p.draft().softcap > 0) return {};
    owned_tensor const &q = p.draft().q, &k = p.draft().k;
    double const sigma = sigma_of(p);
    bool any = false;
    problem_draft draft = p.draft();
    set_bias(draft, s, [&](auto b, auto h, auto i, auto j) {
      double change = 0;
      for (std::int64_t t = 0; t < s.d; ++t) {
        double const product = load(q, offset_of(q, b, h, i, t)) * load(k, offset_of(k, b, h / (s.hq / s.hk), j, t));
        change += rounded_to(product, to) - product;
      }
      if (!std::isfinite(change)) change = 0;
      any |= change != 0;
      return bias_of(p, b, h, i, j) + sigma * change;
    });
    return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
  };
}

}  // namespace

void add_hypotheses_of_memory(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class), add_place = adds_problems_to(to, bug_class::memory),
             add_rounded = adds_problems_to(to, bug_class::low_precision);
  auto const q = &problem_draft::q, k = &problem_draft::k, v = &problem_draft::v;
  // --- where elements are read ---
  add("answer-of-the-call-before", "the answer belongs to the call before", answers_before);
  add_place("v-row-stride-ignored", "the stride between rows of V is ignored", ignores_row_stride(v));
  add_place("k-row-stride-ignored", "the stride between rows of K is ignored", ignores_row_stride(k));
  add_place("q-row-stride-ignored", "the stride between rows of Q is ignored", ignores_row_stride(q));
  add_place("mask-row-stride-ignored", "the stride between rows of the mask is ignored",
            ignores_row_stride(&problem_draft::mask));
  add_place("bias-row-stride-ignored", "the stride between rows of the bias is ignored",
            ignores_row_stride(&problem_draft::bias));
  add_place("v-batch-stride-of-heads", "V's stride between entries is taken to be its stride between heads",
            batch_by_heads(v));
  add_place("k-batch-stride-of-heads", "K's stride between entries is taken to be its stride between heads",
            batch_by_heads(k));
  add_place("v-index-16-bits", "the index of an element of V wraps at 2^16", wraps_index(v));
  add_place("k-index-16-bits", "the index of an element of K wraps at 2^16", wraps_index(k));
  add("first-batch", "every batch entry reads K and V of entry 0", first_of_axis(0));
  add("k-and-v-swapped", "K and V are swapped",
      solves([](owned_problem const& p) { return p.size().d == p.size().dv; },
             [](problem_draft& p) { std::swap(p.k, p.v); }));
  add("values-0-without-depth", "where d = 0, the answer is 0, not the mean of V",
      solves([](owned_problem const& p) { return p.size().d == 0 && p.size().m > 0; },
             [](problem_draft& p) { std::memset(p.v.bytes.data(), 0, p.v.bytes.size()); }));
  // --- what they are rounded to ---
  add("subnormal-inputs-0", "subnormal elements of Q, K and V count as 0",
      maps_inputs({q, k, v}, [](double x, problem::element_type type) {
        return std::abs(x) < limits_of(type).smallest_normal ? 0 : x;
      }));
  struct narrow {
    char const* name;
    std::function<double(double)> round;
  };
  for (narrow const& format :
       {narrow{"tf32", [](double x) { return of_digits(rounded_to(x, problem::format_of<float>), 11); }},
        narrow{"f16", [](double x) { return rounded_to(x, problem::format_of<problem::f16>); }},
        narrow{"bf16", [](double x) { return rounded_to(x, problem::format_of<problem::bf16>); }},
        narrow{"fp8", [](double x) { return of_digits(x, 4); }},
        narrow{"f32", [](double x) { return rounded_to(x, problem::format_of<float>); }}}) {
    auto const round = [f = format.round](double x, problem::element_type) { return f(x); };
    add_rounded(fmt::format("v-in-{}", format.name), fmt::format("V is rounded to {}", format.name),
                maps_inputs({v}, round));
    add_rounded(fmt::format("qk-in-{}", format.name), fmt::format("Q and K are rounded to {}", format.name),
                maps_inputs({q, k}, round));
    add_rounded(fmt::format("inputs-in-{}", format.name), fmt::format("Q, K and V are rounded to {}", format.name),
                maps_inputs({q, k, v}, round));
  }
  for (auto const& [name, type] : {std::pair{"f16", problem::element_type::f16}, {"bf16", problem::element_type::bf16}})
    add_rounded(fmt::format("products-in-{}", name),
                fmt::format("each product of an element of q and one of k is rounded to {} before the sum", name),
                rounds_products(problem::row_of(type).format));
}

}  // namespace attest::audit
