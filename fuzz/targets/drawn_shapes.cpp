// The built-in kernel at production sizes: sampled rows are inside its own error bound.
//
// Bytes → the form of a call at production sizes → the built-in kernel, whose answer the certified reference judges in
// a sample of its rows: an element that is not finite, or outside the kernel's own bound, is a crash.
//
// 28 bytes, little-endian: b, heads, group (u8 each), element type, n, m (u16 each), d, dv (u16 each), features (u32),
// length (u16), values, threads, instruction set, 0, seed (u32). Missing bytes are 0.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/builtin_kernel.hpp"

using namespace attest;

namespace {

class bytes {
 public:
  bytes(std::uint8_t const* data, std::size_t size) { std::memcpy(all_.data(), data, std::min(size, all_.size())); }
  std::int64_t take(int count) {
    std::int64_t value = 0;
    for (int n = 0; n < count; ++n) value |= static_cast<std::int64_t>(all_[at_++]) << (8 * n);
    return value;
  }

 private:
  std::array<std::uint8_t, 28> all_{};
  std::size_t at_ = 0;
};

constexpr std::int64_t most_products = 1 << 22;
constexpr std::int64_t most_bytes = 1 << 23;   // of the tensors: a call without a key or a query has no products
constexpr std::int64_t most_scores = 1 << 15;  // each has an exponential, in f64 perhaps one of hundreds of bits

/// Halves what a call repeats, then its lengths, until it is cheap enough to be asked hundreds of times a second.
void cut(audit::call_form& form, problem::element_type type) {
  auto& s = form.size;
  auto const dear = [&] {
    audit::call_cost const cost = audit::cost_of(form, type);
    std::int64_t const scores = cost.products / (s.d + s.dv + 16);  // as cost_of counts an exponential
    return cost.products > most_products || cost.bytes > most_bytes ||
           (type == problem::element_type::f64 && scores > most_scores);
  };
  while (dear()) {
    if (s.b > 1) s.b /= 2;
    else if (s.hk > 1) s.hq = s.hq / s.hk * (s.hk / 2), s.hk /= 2;
    else if (s.n > 1) s.n /= 2;
    else if (s.hq > 1) s.hq = 1;
    else s.m /= 2;
  }
  form.length = std::clamp<std::int64_t>(form.length, 1, std::max<std::int64_t>(s.m, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  bytes in(data, size);
  audit::call_form form;
  form.size.b = 1 + in.take(1) % 64;
  form.size.hk = 1 + in.take(1) % 64;
  form.size.hq = form.size.hk * (1 + in.take(1) % 16);
  constexpr std::array types{problem::element_type::f32, problem::element_type::bf16, problem::element_type::f16,
                             problem::element_type::f64};
  auto const type = types[static_cast<std::size_t>(in.take(1)) % types.size()];
  form.size.n = in.take(2) % 8193, form.size.m = in.take(2) % 16385;
  form.size.d = 1 + in.take(2) % 576, form.size.dv = 1 + in.take(2) % 576;
  std::int64_t const features = in.take(4);
  std::array<bool, 8> taken{};
  for (audit::feature_row const& row : audit::feature_table()) {
    bool& group = taken[static_cast<std::size_t>(row.group)];
    if (row.group == audit::feature_group::sizes || !(features >> static_cast<int>(row.id) & 1)) continue;
    if (group && row.group != audit::feature_group::numbers) continue;
    bool excluded = row.id == audit::feature::dropout;  // the built-in kernel has none
    form.options.each([&](audit::feature one) { excluded = excluded || audit::exclude(one, row.id); });
    if (excluded) continue;
    form.options.add(row.id), group = true;
  }
  form.length = 1 + in.take(2);
  form.values = static_cast<audit::value_form>(in.take(1) % 3);
  form.threads = static_cast<std::int32_t>(in.take(1) % 5);
  static auto const sets = fast::simd_targets();
  if (!fast::use_simd_target(sets[static_cast<std::size_t>(in.take(1)) % sets.size()])) std::abort();
  in.take(1);
  audit::random_stream random(static_cast<std::uint64_t>(in.take(4)), "drawn_shapes");
  cut(form, type);

  audit::problem_draft const draft = audit::draft_of(form, type, random);
  auto const instance = problem::make_instance(draft.arguments());
  if (!instance) std::abort();
  auto rows = audit::sampled_rows(form.size, 6, random);
  std::visit([&](auto const& p) { std::erase_if(rows, [&](auto const& row) { return row.i >= p.queries(row.b); }); },
             instance.value());
  audit::contract const claim = tests::builtin_claim(instance.value());
  auto const answer = tests::builtin_answer(draft, {.threads = form.threads});
  audit::judgement const judged = audit::judge(instance.value(), answer, claim, rows);
  if (judged.failed == 0 && judged.undecided == 0) return 0;
  std::fprintf(stderr, "%s\n", form.text().c_str());
  for (audit::violation const& wrong : judged.violations) std::fprintf(stderr, "%s\n", wrong.sentence.c_str());
  std::fprintf(stderr, "%ld elements failed, %ld undecided\n", static_cast<long>(judged.failed),
               static_cast<long>(judged.undecided));
  std::abort();
}
