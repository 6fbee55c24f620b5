// Passes of attention, right gradients of them, and kernels that make one mistake, for tests of causes.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"
#include "audit/cause/cause_search.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {

inline contract const& claim() { return *find_contract("f32"); }

/// Small passes of several sizes, with the O and LSE that are handed over.
inline std::vector<owned_problem> passes(std::function<void(problem_draft&)> const& change = [](auto&) {}) {
  std::vector<owned_problem> all;
  for (problem::sizes const& s :
       {problem::sizes{1, 4, 2, 13, 11, 8, 6}, {2, 2, 2, 9, 17, 4, 8}, {1, 2, 1, 20, 7, 16, 4}}) {
    random_stream random(1, "gradient causes " + std::to_string(s.n));
    problem_draft draft;
    draft.q = owned_tensor::compact(claim().type, {s.b, s.hq, s.n, s.d});
    draft.k = owned_tensor::compact(claim().type, {s.b, s.hk, s.m, s.d});
    draft.v = owned_tensor::compact(claim().type, {s.b, s.hk, s.m, s.dv});
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) fill(*t, [&](auto...) { return random.normal(); });
    change(draft);
    all.push_back(with_forward(
        differentiated({.check = "", .name = "pass", .problem = owned_problem::of_valid(draft)}, 1).problem));
  }
  return all;
}

/// The gradients of a pass, rounded: as a right kernel returns them, where `instead` is the pass itself.
inline owned_outputs gradients_of(owned_problem const& instead) {
  owned_outputs outputs;
  for (output_kind const kind : output_kinds) {
    auto gradient = problem::is_gradient(kind) ? zero_gradient(instead, kind) : std::nullopt;
    if (!gradient) continue;
    gradient_places const places(instead, kind);
    auto const& [b_size, h_size, rows, columns] = places.shape();
    for (std::int64_t b = 0; b < b_size; ++b)
      for (std::int64_t h = 0; h < h_size; ++h)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t x = 0; x < columns; ++x)
            store(*gradient, places.row(b, h, i) + static_cast<std::size_t>(x),
                  near_gradient({instead, {}, claim(), {}, formed_from::handed_alone}, kind, {b, h, i, x}));
    outputs.of(kind) = std::move(gradient);
  }
  return outputs;
}

inline void scale(std::optional<owned_tensor>& t, double by) {
  for (std::size_t at = 0; at < t->spanned_elements(); ++at) store(*t, at, load(*t, at) * by);
}

using answering_kernel = std::function<owned_outputs(owned_problem const&)>;

inline std::optional<named_cause> cause_of(std::vector<owned_problem> const& problems, answering_kernel const& kernel) {
  std::vector<answered_case> answers;
  cause_question asked;
  for (owned_problem const& problem : problems) {
    answers.emplace_back().add(problem, kernel(problem), claim(), {});
    auto const number = std::ssize(answers);
    (answers.back().is_wrong() ? asked.failing : asked.passing)
        .push_back({"backward", "pass-" + std::to_string(number), number});
  }
  asked.answers = [&](searched_case const& which) -> std::optional<answered_case> {
    return answers[static_cast<std::size_t>(which.number) - 1];
  };
  asked.concerns = [](auto const&, auto const&) { return true; };
  asked.products = [](auto const&) { return 0.0; };
  asked.late = [](double) { return false; };
  return find_cause(asked);
}

inline std::string name_of_cause(std::vector<owned_problem> const& problems, answering_kernel const& kernel) {
  auto const found = cause_of(problems, kernel);
  if (!found || found->mistakes.size() != 1 || found->explains < found->of) return found ? sentence_of(*found) : "";
  return found->mistakes.front().name;
}

/// The passes of a kernel that reads another draft than it was given.
inline answering_kernel kernel_of(std::function<void(problem_draft&)> const& change) {
  return [=](owned_problem const& problem) {
    problem_draft draft = problem.draft();
    change(draft);
    return gradients_of(owned_problem::of_valid(std::move(draft)));
  };
}

inline void add_bias_of_one_row(problem_draft& p) {
  random_stream random(2, "bias");
  p.bias = owned_tensor::compact(problem::element_type::f32, {1, 1, p.q.layout.shape[2], p.k.layout.shape[2]});
  fill(*p.bias, [&](auto...) { return random.normal(); });
}

}  // namespace attest::audit
