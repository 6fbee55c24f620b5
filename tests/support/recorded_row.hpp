// One row and what a kernel answered to it, as numbers, judged as the program judges a file: by both tiers.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// q [d], k [m, d], v [m, dv], and for each output that the kernel returned its numbers. They are rounded to `type`.
struct recorded_row : problem::parameters {
  problem::element_type type = problem::element_type::f32;
  std::vector<double> q{}, k{}, v{}, bias{};
  std::vector<double> o{}, lse{}, weights{};

  std::int64_t d() const { return static_cast<std::int64_t>(q.size()); }
  std::int64_t m() const { return static_cast<std::int64_t>(k.size()) / d(); }
  std::int64_t dv() const { return static_cast<std::int64_t>(v.size()) / m(); }

  /// q, k and v, as a kernel of tests/support/known_run.hpp reads them.
  written<float> row() const {
    written<float> made(m(), d(), dv());
    auto const copied = [&](std::vector<double> const& from, std::vector<float>& to) {
      to.clear();
      for (double const x : from) to.push_back(static_cast<float>(audit::rounded_to(x, problem::row_of(type).format)));
    };
    copied(q, made.q.values), copied(k, made.k.values), copied(v, made.v.values), copied(bias, made.bias.values);
    static_cast<problem::parameters&>(made) = *this;
    return made;
  }

  audit::owned_problem problem() const {
    audit::problem_draft draft;
    static_cast<problem::parameters&>(draft) = *this;
    draft.q = tensor(q, {1, 1, 1, d()}), draft.k = tensor(k, {1, 1, m(), d()}), draft.v = tensor(v, {1, 1, m(), dv()});
    if (!bias.empty()) draft.bias = tensor(bias, {1, 1, 1, m()});
    return audit::owned_problem::of_valid(std::move(draft));
  }
  audit::owned_outputs outputs() const {
    audit::owned_outputs outputs;
    if (!o.empty()) outputs.o = tensor(o, {1, 1, 1, dv()});
    if (!lse.empty()) {
      outputs.lse = audit::owned_tensor::compact(type == problem::element_type::f64 ? type : problem::element_type::f32,
                                                 {1, 1, 1});
      audit::store(*outputs.lse, 0, lse[0]);
    }
    if (!weights.empty()) outputs.weights = tensor(weights, {1, 1, 1, m()});
    return outputs;
  }

 private:
  audit::owned_tensor tensor(std::vector<double> const& numbers, std::initializer_list<std::int64_t> shape) const {
    audit::owned_tensor made = audit::owned_tensor::compact(type, shape);
    for (std::size_t at = 0; at < numbers.size(); ++at) audit::store(made, at, numbers[at]);
    return made;
  }
};

/// The judgement of both tiers, which must agree in every count.
/// Ensures   where ATTEST_SAVE_ROWS names a folder, NAME.safetensors in it is the row, for `attest verify`, and its
///           judgement is printed
inline audit::judgement judged(std::string const& name, recorded_row const& row, audit::contract const& claim) {
  audit::owned_problem const problem = row.problem();
  audit::owned_outputs const outputs = row.outputs();
  audit::judgement const tiered = audit::judge(problem.instance(), outputs, claim);
  if (char const* const folder = std::getenv("ATTEST_SAVE_ROWS")) {
    audit::problem_file_entry const entry{"", problem, outputs};
    auto const bytes = audit::problem_file_bytes({&entry, 1}).value();
    std::ofstream file(std::filesystem::path(folder) / (name + ".safetensors"), std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::fprintf(stderr, "%-30s %-18s judged %lld, not %lld, refuted %lld, %.3g bounds\n", name.c_str(),
                 claim.name.c_str(), static_cast<long long>(tiered.judged()),
                 static_cast<long long>(tiered.not_judged()), static_cast<long long>(tiered.failed),
                 tiered.max_error_in_bounds);
  }
  audit::judgement exact;
  std::visit(
      [&]<class T>(problem::instance<T> const& instance) {
        audit::exact_row_judge<T>(instance, audit::views_of<T>(instance, outputs), claim.model_for(problem.instance()))
            .judge(0, 0, 0, exact);
      },
      problem.instance());
  INFO(name << " under " << claim.name << ": the machine tier, then the exact one");
  CHECK(tiered.failed == exact.failed);
  CHECK(tiered.by_theorem == exact.by_theorem);
  CHECK(tiered.by_dominance == exact.by_dominance);
  CHECK(tiered.not_judged() == exact.not_judged());
  return tiered;
}

inline audit::contract preset(std::string_view name) { return *audit::find_contract(name); }

/// A preset with fields of its own: {"from": NAME, "model": {…}}.
template <class Change>
audit::contract changed_preset(std::string_view name, Change&& change) {
  audit::contract claim = preset(name);
  claim.name += ", changed";
  change(claim.fixed);
  return claim;
}

/// Every element of the answer was judged, and none is wrong.
inline void check_inside(std::string const& name, recorded_row const& row, audit::contract const& claim) {
  audit::judgement const found = judged(name, row, claim);
  INFO(name << " under " << claim.name << ": " << found.max_error_in_bounds << " bounds");
  CHECK(found.failed == 0);
  CHECK(found.not_judged() == 0);
  CHECK(found.judged() > 0);
}
/// Some element is certainly wrong.
inline void check_refuted(std::string const& name, recorded_row const& row, audit::contract const& claim) {
  audit::judgement const found = judged(name, row, claim);
  INFO(name << " under " << claim.name << ": " << found.judged() << " judged, " << found.not_judged() << " not");
  CHECK(found.failed > 0);
}
/// The bound says nothing about any element.
inline void check_not_judged(std::string const& name, recorded_row const& row, audit::contract const& claim) {
  audit::judgement const found = judged(name, row, claim);
  INFO(name << " under " << claim.name << ": " << found.max_error_in_bounds << " bounds");
  CHECK(found.failed == 0);
  CHECK(found.judged() == 0);
  CHECK(found.not_judged() > 0);
}

}  // namespace attest::tests
