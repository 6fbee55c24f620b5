// Where tensors lie: gaps, orders of axes, shared and far memory, each tensor in its own form.
#include <string>

#include <fmt/format.h>

#include "audit/cases/arranged.hpp"
#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/forms/layouts.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

void add_strides(case_list& to) {
  problem::sizes const square{2, 2, 2, 16, 16, 8, 8}, s{2, 2, 2, 5, 11, 6, 7};
  auto alone = to.random("strides", "alone");
  problem_draft const compact = gaussian(square, to.type(), alone);
  to.add("strides", "compact", compact);  // the next cases without gaps
  for (std::int64_t const gap : {1, 8}) {
    problem_draft strided = compact;
    for (owned_tensor* t : {&strided.q, &strided.k, &strided.v}) relay(*t, row_order::rows_inside, gap, gap);
    to.add("strides", fmt::format("gap{}-alone", gap), std::move(strided));
  }
  for (std::int64_t const gap : {1, 3, 16}) {
    std::string const name = fmt::format("gap{}", gap);
    auto random = to.random("strides", name);
    problem_draft draft = gaussian(s, to.type(), random);
    add_mask(draft, s.b, s.hq, s.n, s.m, [&](auto...) { return random.below(4) != 0; });
    add_bias(draft, s.b, s.hq, s.n, s.m, [&](auto...) { return random.normal(); });
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v, &*draft.bias, &*draft.mask})
      relay(*t, row_order::rows_inside, gap, gap);
    to.add("strides", name, std::move(draft));
  }
  // [b, n, h, d] in memory, as most models have it.
  auto random = to.random("strides", "heads-inside");
  problem_draft draft = gaussian(square, to.type(), random);
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) relay(*t, row_order::heads_inside, 0);
  to.add("strides", "heads-inside", std::move(draft));
  // Tensors that share memory, begin behind their data pointer, or lie far apart; outputs with gaps.
  struct named_form {
    char const* name;
    memory_form form;
  };
  for (auto const& [name, form] :
       {named_form{"shared-batch", {.shared_batch = true}}, named_form{"shared-heads", {.shared_heads = true}},
        named_form{"overlapping-rows", {.overlap = 3}}, named_form{"values-in-keys", {.v_in_k = true}},
        named_form{"byte-offsets", {.unaligned = true}}, named_form{"gaps-in-outputs", {.row_gap = 5}},
        named_form{"out-heads-inside", {.o_inside = true}},
        named_form{"gaps-between-heads-of-outputs", {.head_gap = 3}},
        named_form{"far-heads", {.far_head = (std::int64_t{1} << 31) + 64}}}) {
    auto numbers = to.random("strides", name);
    problem_draft lying = gaussian(square, to.type(), numbers);
    add_mask(lying, square.b, square.hq, square.n, square.m, [&](auto...) { return numbers.below(4) != 0; });
    share_values(lying, form);
    to.add("strides", name, std::move(lying)).memory = form;
  }
}

/// Each tensor lies in each form while all others are compact.
void add_layouts(case_list& to) {
  problem::sizes const s{2, 2, 2, 16, 16, 8, 8};
  auto const ask = [&](std::string_view tensor, auto&& prepare, auto&& tensors) {
    for (layout_form const& form : layout_forms) {
      std::string const name = fmt::format("{}-{}", tensor, form.name);
      auto random = to.random("strides", name);
      problem_draft draft = gaussian(s, to.type(), random);
      prepare(draft, random);
      for (owned_tensor* t : tensors(draft)) relay(*t, form);
      to.add("strides", name, std::move(draft));
    }
  };
  using tensors = std::vector<owned_tensor*>;
  auto const nothing = [](auto&...) {};
  ask("q", nothing, [](auto& p) { return tensors{&p.q}; });
  ask("k", nothing, [](auto& p) { return tensors{&p.k}; });
  ask("v", nothing, [](auto& p) { return tensors{&p.v}; });
  auto const attend = [&](problem_draft& p, random_stream& random) {
    add_mask(p, s.b, s.hq, s.n, s.m, [&](auto...) { return random.below(4) != 0; });
  };
  ask("mask", attend, [](auto& p) { return tensors{&*p.mask}; });
  auto const add = [&](problem_draft& p, random_stream& random) {
    add_bias(p, s.b, s.hq, s.n, s.m, [&](auto...) { return random.normal(); });
  };
  ask("bias", add, [](auto& p) { return tensors{&*p.bias}; });
  // Version 2: pools, a mask of dropout, a mask of blocks.
  auto const page = [](problem_draft& p, random_stream& random) {
    draw_lengths(p, random);
    page_keys(p, {.page = 4, .more_columns = 1, .more_pages = 1}, random);
  };
  ask("pool-of-keys", page, [](auto& p) { return tensors{&p.k}; });
  ask("pool-of-values", page, [](auto& p) { return tensors{&p.v}; });
  ask("pools", page, [](auto& p) { return tensors{&p.k, &p.v}; });
  auto const pack = [](problem_draft& p, random_stream& random) {
    draw_lengths(p, random);
    pack_queries(p, 1), pack_keys(p, 1);
  };
  ask("packed", pack, [](auto& p) { return tensors{&p.q, &p.k, &p.v}; });
  auto const drop = [](problem_draft& p, random_stream& random) {
    call_form form{.size = {2, 2, 2, 16, 16, 8, 8}};
    row_of(feature::dropout).add(row_of(feature::dropout), form, p, random);
  };
  ask("keep", drop, [](auto& p) { return tensors{&*p.keep}; });
  auto const block = [](problem_draft& p, random_stream& random) {
    p.block_q = p.block_k = 4;
    p.block_mask = owned_tensor::compact(problem::element_type::u8, {2, 2, 4, 4});
    fill(*p.block_mask, [&](auto...) { return random.below(3) != 0 ? 1.0 : 0.0; });
  };
  ask("block-mask", block, [](auto& p) { return tensors{&*p.block_mask}; });
}

}  // namespace

void add_strides_of_tensors(case_list& to) {
  add_strides(to);
  add_layouts(to);
}

}  // namespace attest::audit
