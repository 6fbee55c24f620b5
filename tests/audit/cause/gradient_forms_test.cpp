// The cause of wrong gradients in other forms of calls: packed rows, tensors of rank 3, rows that see no key.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/unmasked_rows.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/audit/cause/gradient_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::gradient_forms_test {
namespace {

/// Passes of three entries of different lengths, one behind the other.
std::vector<owned_problem> packed_passes(std::function<void(problem_draft&)> const& change = [](auto&) {}) {
  std::vector<owned_problem> all;
  for (int const seed : {1, 2, 3}) {
    random_stream random(static_cast<std::uint64_t>(seed), "packed gradient causes");
    problem_draft draft;
    draft.q = owned_tensor::compact(claim().type, {3, 4, 9, 8});
    draft.k = owned_tensor::compact(claim().type, {3, 2, 13, 8});
    draft.v = owned_tensor::compact(claim().type, {3, 2, 13, 6});
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) fill(*t, [&](auto...) { return random.normal(); });
    change(draft);
    set_lengths(draft, {9, 4, 7}, {13, 5, 8});
    pack_queries(draft, 1), pack_keys(draft, seed);
    all.push_back(with_forward(
        differentiated({.check = "", .name = "packed", .problem = owned_problem::of_valid(draft)}, 1).problem));
  }
  return all;
}

/// What a kernel that solves `changed` of the pass in slots answers to the packed pass.
using change_in_slots = std::function<void(problem_draft&, problem::sizes const&)>;
owned_outputs packed_gradients(owned_problem const& packed, change_in_slots const& change) {
  problem_draft draft = of_rank_4(packed, {}, claim()).problem.draft();
  change(draft, packed.size());
  owned_problem const slots = owned_problem::of_valid(std::move(draft));
  owned_outputs const from = gradients_of(slots);
  owned_outputs to;
  for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv}) {
    auto gradient = zero_gradient(packed, kind);
    gradient_places const there(packed, kind), here(slots, kind);
    auto const& [entries, heads, rows, columns] = there.shape();
    for (std::int64_t b = 0; b < entries; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < (kind == output_kind::dq ? queries_of(packed, b) : keys_of(packed, b)); ++i)
          for (std::int64_t x = 0; x < columns; ++x)
            store(*gradient, there.row(b, h, i) + static_cast<std::size_t>(x),
                  load(*from.of(kind), here.row(b, h, i) + static_cast<std::size_t>(x)));
    to.of(kind) = std::move(gradient);
  }
  return to;
}

void change_nothing(problem_draft&, problem::sizes const&) {}

}  // namespace

TEST_CASE("right gradients of packed passes have no cause", "[unit]") {
  CHECK_FALSE(cause_of(packed_passes(), [](owned_problem const& p) { return packed_gradients(p, change_nothing); }));
}

TEST_CASE("a mistake in packed passes is named", "[unit]") {
  CHECK(name_of_cause(packed_passes(), [](owned_problem const& p) {
          owned_outputs outputs = packed_gradients(p, change_nothing);
          scale(outputs.dk, std::sqrt(8.0));
          return outputs;
        }) == "dk-unscaled");
  CHECK(name_of_cause(packed_passes(), [](owned_problem const& p) {
          owned_outputs outputs = packed_gradients(p, change_nothing);
          owned_outputs wrong = packed_gradients(p, [&](problem_draft& draft, problem::sizes const& s) {
            draft.mask = owned_tensor::compact(problem::element_type::u8, {s.b, 1, s.n, s.m});
            fill(*draft.mask, [&](auto b, auto, auto i, auto) { return i + 1 < queries_of(p, b) ? 1.0 : 0.0; });
          });
          outputs.dk = std::move(wrong.dk), outputs.dv = std::move(wrong.dv);
          return outputs;
        }) == "dkv-without-last-query");
  auto const causal = packed_passes([](problem_draft& p) { p.align = 1, p.band.right = 0; });
  CHECK(name_of_cause(causal, [](owned_problem const& p) {
          return packed_gradients(p, [](problem_draft& draft, auto const&) { draft.band = {}; });
        }) == "right-ignored");
}

TEST_CASE("a mistake in passes of rank 3 is named", "[unit]") {
  std::vector<owned_problem> flat;
  for (owned_problem const& pass : passes()) {
    if (pass.size().hq != pass.size().hk) continue;
    problem_draft draft = pass.draft();
    auto const flatten = [](owned_tensor& t) {  // [b, h, i, x] as [b·h, i, x]
      auto const& n = t.layout.shape;
      t.layout = t.layout.rank == 4 ? problem::layout::compact({n[0] * n[1], n[2], n[3]})
                                    : problem::layout::compact({n[0] * n[1], n[2]});
    };
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v, &*draft.d_out, &*draft.handed_o, &*draft.handed_lse})
      flatten(*t);
    flat.push_back(owned_problem::of_valid(std::move(draft)));
  }
  REQUIRE_FALSE(flat.empty());
  auto const kernel = [](double factor) {
    return [=](owned_problem const& p) {
      owned_outputs outputs = gradients_of(of_rank_4(p, {}, claim()).problem);
      scale(outputs.dq, factor);
      for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv})
        outputs.of(kind)->layout = zero_gradient(p, kind)->layout;
      return outputs;
    };
  };
  CHECK_FALSE(cause_of(flat, kernel(1)));
  auto const found = cause_of(flat, kernel(-1));
  REQUIRE(found);
  REQUIRE(found->mistakes.size() == 1);
  CHECK(found->mistakes.front().name == "dq-negated");
}

TEST_CASE("gradients as if rows without a visible key were unmasked follow a convention", "[unit]") {
  auto const some_empty = passes([](problem_draft& p) {
    p.mask = owned_tensor::compact(problem::element_type::u8, {1, 1, p.q.layout.shape[2], p.k.layout.shape[2]});
    fill(*p.mask, [](auto, auto, auto i, auto j) { return i % 3 != 1 && (i + j) % 2 == 0 ? 1.0 : 0.0; });
  });
  auto const unmasked = [](owned_problem const& p) {
    problem_draft alone = p.draft();
    alone.handed_o.reset(), alone.handed_lse.reset();
    return gradients_of(with_empty_rows_unmasked(owned_problem::of_valid(std::move(alone)), {})->problem);
  };
  CHECK(name_of_cause(some_empty, unmasked) == "empty-row-unmasked");
  contract says = claim();
  says.conventions.empty_row = conventions::row::unmasked;
  for (owned_problem const& p : some_empty) CHECK(judge_by_law(p, unmasked(p), says).failed == 0);
}

}  // namespace attest::audit::gradient_forms_test
