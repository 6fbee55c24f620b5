// Judging by the machine tier first gives the verdicts of the ball tier alone.
#include "audit/contract/preset_family.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/judge/tiered_judge.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/compiled/row.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::first_test {
namespace {

/// Outputs that a test may spoil.
template <class T>
struct outputs_of {
  owned<T> o, weights;
  owned<problem::lse_element<T>> lse;

  /// The exact values, rounded, and some of them moved by a random part of a few bounds, or to nonsense.
  outputs_of(problem::instance<T> const& p, problem::kernel_model const& model, std::mt19937_64& random) {
    auto const& s = p.size();
    o = owned<T>({s.b, s.hq, s.n, s.dv}), weights = owned<T>({s.b, s.hq, s.n, s.m});
    lse = owned<problem::lse_element<T>>({s.b, s.hq, s.n, 1});
    audit::row_truth<128, T> at;
    std::size_t r = 0;
    auto const moved = [&](auto const& exact, reference::error_bound const& bound) {
      double const x = (reference::lower(exact) + reference::upper(exact)) / 2;
      double const part = static_cast<double>(random() % 1000) / 500 - 1;
      if (random() % 40 != 0 || !(bound.size < 1e30)) return x;
      return random() % 4 == 0 ? (random() % 2 ? std::nan("") : 1e30) : x + 2 * part * bound.size;
    };
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i, ++r) {
          at.evaluate(p, model, b, h, i);
          if (at.row.kind != reference::row_kind::finite) {
            lse.values[r] = static_cast<problem::lse_element<T>>(-reference::infinity);
            continue;
          }
          lse.values[r] = static_cast<problem::lse_element<T>>(
              moved(reference::compiled::log_sum_exp(at.row), at.bound.log_sum_exp()));
          for (std::int64_t c = 0; c < s.dv; ++c) {
            auto const exact = reference::compiled::output(p, at.row, c);
            auto const value = [&](std::size_t n) {
              return reference::value_of(p.v()(b, reference::key_head(s, h), at.row.keys[n].j, c));
            };
            if (exact.kind == reference::value_kind::finite)
              o.values[r * static_cast<std::size_t>(s.dv) + static_cast<std::size_t>(c)] =
                  element_from<T>(moved(exact.value, at.bound.output(exact.value, value)));
          }
          for (std::size_t n = 0; n < at.row.keys.size(); ++n)
            weights.values[r * static_cast<std::size_t>(s.m) + static_cast<std::size_t>(at.row.keys[n].j)] =
                element_from<T>(moved(reference::compiled::weight(at.row, n), at.bound.weight(n)));
        }
  }
  audit::output_views<T> views(bool with_weights) {
    audit::output_views<T> views;
    auto const view = [](auto& from) {
      auto const tensor = from.in();
      return problem::lifted(tensor);
    };
    views.o = view(o), views.lse = view(lse);
    if (with_weights) views.weights = view(weights);
    return views;
  }
};

template <class T>
void same_verdicts(std::string const& contract) {
  std::int64_t judged = 0, handed_over = 0, failed = 0, outside = 0;
  std::vector<audit::named_model> sharper;
  for (audit::contract const* preset : audit::sharper_presets(*audit::find_contract(contract)))
    sharper.push_back({preset->name, preset->fixed});
  property(contract + ": the same elements fail, pass, and are not judged", [&](std::uint64_t seed, bool with_weights) {
    machine_problem<T> const problem(seed);
    auto const instance = problem.instance();
    auto const model = audit::find_contract(contract)->fixed;
    std::mt19937_64 random(seed);
    outputs_of<T> outputs(instance, model, random);
    auto const views = outputs.views(with_weights);
    audit::exact_row_judge<T> exact(instance, views, model, sharper);
    audit::tiered_judge<T> first(instance, views, model, sharper);
    audit::judgement by_exact, by_first;
    for (std::int64_t b = 0; b < problem.s.b; ++b)
      for (std::int64_t h = 0; h < problem.s.hq; ++h) {
        for (std::int64_t i = 0; i < problem.s.n; ++i) exact.judge(b, h, i, by_exact);
        std::vector<std::int64_t> left;
        first.certify(b, h, 0, problem.s.n, by_first, [&](std::int64_t i, bool) { left.push_back(i); });
        for (std::int64_t const i : left) first.judge_exactly({b, h, i}, by_first);
        judged += problem.s.n, handed_over += std::ssize(left);
      }
    RC_ASSERT(by_first.failed == by_exact.failed);
    RC_ASSERT(by_first.not_judged() == by_exact.not_judged());
    RC_ASSERT(by_first.by_rule == by_exact.by_rule);
    RC_ASSERT(by_first.judged() == by_exact.judged());
    for (std::size_t output = 0; output < by_exact.shares.size(); ++output) {
      RC_ASSERT(by_first.shares[output].judged == by_exact.shares[output].judged);
      RC_ASSERT(by_first.shares[output].outside == by_exact.shares[output].outside);
    }
    RC_ASSERT(by_first.undecided == by_exact.undecided);
    // The same elements are compared with the sharper presets, whichever tier has bounded them again.
    RC_ASSERT(by_first.beside.size() == by_exact.beside.size());
    for (std::size_t n = 0; n < by_first.beside.size(); ++n) {
      RC_ASSERT(by_first.beside[n].preset == by_exact.beside[n].preset);
      RC_ASSERT(by_first.beside[n].compared == by_exact.beside[n].compared);
      RC_ASSERT(by_first.beside[n].outside == by_exact.beside[n].outside);
      outside += by_first.beside[n].outside;
    }
    failed += by_first.failed;
  });
  INFO(judged << " rows, " << handed_over << " handed over, " << failed << " elements failed");
  CHECK(failed > 0);
  CHECK(handed_over < judged);
  CHECK((outside > 0 || sharper.empty()));
}

}  // namespace

TEST_CASE("machine first or exact alone: the same verdicts", "[property][differential]") {
  same_verdicts<float>("f32");
  same_verdicts<problem::bf16>("bf16");
  same_verdicts<problem::f16>("f16");
  same_verdicts<double>("f64");
}

}  // namespace attest::tests::first_test
