// Sizes that no vector width divides, and strides.
#include <string>

#include <fmt/format.h>

#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {
namespace {

/// The same values with `gap` more elements between rows; the gaps hold NaN.
owned_tensor padded(owned_tensor const& from, std::int64_t gap) {
  owned_tensor tensor{from.type, from.layout, {}};
  auto& s = tensor.layout;
  s.stride = {0, 0, s.shape[3] + gap, 1};
  s.stride[1] = s.stride[2] * s.shape[2] + gap;
  s.stride[0] = s.stride[1] * s.shape[1] + 2 * gap;
  std::size_t const bytes = problem::size_of(from.type);
  tensor.bytes.resize(tensor.spanned_elements() * bytes, std::byte{0xff});  // 0xff… is a NaN in every floating type
  for (std::int64_t b = 0; b < s.shape[0]; ++b)
    for (std::int64_t h = 0; h < s.shape[1]; ++h)
      for (std::int64_t i = 0; i < s.shape[2]; ++i)
        for (std::int64_t j = 0; j < s.shape[3]; ++j)
          std::memcpy(tensor.bytes.data() + offset_of(tensor, b, h, i, j) * bytes,
                      from.bytes.data() + offset_of(from, b, h, i, j) * bytes, bytes);
  return tensor;
}

void add_tails(case_list& to) {
  auto const plain = [&](std::string const& name, problem::sizes const& s) -> audit_case& {
    auto random = to.random("tails", name);
    return to.add("tails", name, gaussian(s, to.type(), random));
  };
  bool const quick = to.options().quick;
  for (std::int64_t m = 1; m <= 40; m += quick ? 3 : 1) {
    plain(fmt::format("keys{}", m), {1, 1, 1, m, m, 8, 8});
    if (!quick || m % 2 == 1) plain(fmt::format("keys{}-n1-d5-dv3", m), {1, 1, 1, 1, m, 5, 3});
  }
  // Every tail up to twice the widest vector there is (16 floats), and a prime beyond.
  for (std::int64_t size = 1; size <= 33; size += quick ? 6 : 1) {
    plain(fmt::format("d{}", size), {1, 1, 1, 9, 9, size, size});
    plain(fmt::format("dv{}", size), {1, 1, 1, 3, 9, 4, size});
    plain(fmt::format("queries{}", size), {1, 1, 1, size, 5, 8, 8});
  }
  // Head dimensions in use.
  for (std::int64_t const d : {40, 64, 72, 80, 96, 112, 128, 160, 192, 256, 320, 576})
    if (!quick || d == 64 || d == 80 || d == 128) plain(fmt::format("d{}", d), {1, 1, 1, 9, 9, d, d});
  plain("d67-dv67", {1, 1, 1, 3, 9, 67, 67});
  for (std::int64_t const m : {63, 64, 65, 127, 128, 129, 255, 256, 257}) {
    plain(fmt::format("around-block-{}", m), {1, 1, 1, 2, m, 8, 8});
    if (!quick && m < 255) plain(fmt::format("square-{}", m), {1, 1, 1, m, m, 8, 8});
  }
  plain("beyond-16-bits", {1, 1, 1, 1, 4200, 16, 16});  // 67,200 elements of V
  plain("no-queries", {1, 2, 2, 0, 5, 4, 4});
  plain("no-value-columns", {1, 1, 1, 3, 5, 4, 0});
  plain("no-head-dimension", {1, 1, 1, 3, 5, 0, 4});
}

/// As many batch entries, heads or queries as a number of 15 or 16 bits holds, one fewer, and one more; everything
/// else is as small as it can be. A few rows are judged: the first ones, the last ones and some between.
void add_large_counts(case_list& to) {
  auto const ask = [&](std::string const& name, problem::sizes const& s) {
    auto random = to.random("tails", name);
    audit_case& made = to.add("tails", name, gaussian(s, to.type(), random));
    made.rows = sampled_rows(s, 96, random);
    for (std::int64_t const at : {0x7ffe, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x10000})
      if (std::int64_t const all = s.b * s.hq * s.n; at < all)
        made.rows.push_back({at / (s.hq * s.n), at / s.n % s.hq, at % s.n});
    put_in_order(made.rows);
    made.once = true;
  };
  for (std::int64_t const count : {0x8000, 0xffff, 0x10000, 0x10001}) {
    if (to.options().quick && count != 0x10001) continue;
    ask(fmt::format("batch{}", count), {count, 1, 1, 1, 1, 1, 1});
    ask(fmt::format("heads{}", count), {1, count, count, 1, 1, 1, 1});
    ask(fmt::format("queries{}", count), {1, 1, 1, count, 1, 1, 1});
    ask(fmt::format("keys{}", count), {1, 1, 1, 1, count, 1, 1});
  }
  ask("batch257-heads256", {257, 256, 1, 1, 1, 1, 1});
}

void add_strides(case_list& to) {
  problem::sizes const square{2, 2, 2, 16, 16, 8, 8}, s{2, 2, 2, 5, 11, 6, 7};
  auto alone = to.random("strides", "alone");
  problem_draft const compact = gaussian(square, to.type(), alone);
  to.add("strides", "compact", compact);  // the next cases without gaps
  for (std::int64_t const gap : {1, 8}) {
    problem_draft strided = compact;
    for (owned_tensor* t : {&strided.q, &strided.k, &strided.v}) *t = padded(*t, gap);
    to.add("strides", fmt::format("gap{}-alone", gap), std::move(strided));
  }
  for (std::int64_t const gap : {1, 3, 16}) {
    std::string const name = fmt::format("gap{}", gap);
    auto random = to.random("strides", name);
    problem_draft draft = gaussian(s, to.type(), random);
    add_mask(draft, s.b, s.hq, s.n, s.m, [&](auto...) { return random.below(4) != 0; });
    add_bias(draft, s.b, s.hq, s.n, s.m, [&](auto...) { return random.normal(); });
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v, &*draft.bias, &*draft.mask}) *t = padded(*t, gap);
    to.add("strides", name, std::move(draft));
  }
  // [b, n, h, d] in memory, as most models have it.
  auto random = to.random("strides", "heads-inside");
  problem_draft draft = gaussian(square, to.type(), random);
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) {
    auto& [rank, shape, stride] = t->layout;
    stride = {shape[1] * shape[2] * shape[3], shape[3], shape[1] * shape[3], 1};
  }
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
        named_form{"far-heads", {.far_head = (std::int64_t{1} << 31) + 64}}}) {
    auto numbers = to.random("strides", name);
    problem_draft lying = gaussian(square, to.type(), numbers);
    add_mask(lying, square.b, square.hq, square.n, square.m, [&](auto...) { return numbers.below(4) != 0; });
    share_values(lying, form);
    to.add("strides", name, std::move(lying)).memory = form;
  }
}

}  // namespace

void add_shapes(case_list& to) {
  add_tails(to);
  add_large_counts(to);
  add_strides(to);
}

}  // namespace attest::audit
