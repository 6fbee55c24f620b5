// The built-in kernel beside the certified reference: every element is inside the kernel's own error bound.
//
// Bytes → a valid problem → the built-in kernel and the certified reference side by side, on an instruction set of the
// input's choice. If the numbers are bf16, the arithmetic is of its choice as well. An element outside the kernel's own
// bound is a crash.
#include <cstdio>
#include <cstdlib>

#include "audit/judge/judge_outputs.hpp"
#include "fast/simd/operations.hpp"
#include "fuzz/support/problem_bytes.hpp"
#include "tests/support/builtin_kernel.hpp"

using namespace attest;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::decoded const in = fuzz::decode({data, size}, {.drops = false});  // the kernel has no dropout
  static auto const sets = fast::simd_targets();
  if (!fast::use_simd_target(sets[in.header[fuzz::choice] % sets.size()])) std::abort();
  auto const instance = problem::make_instance(in.problem.arguments());
  if (!instance) std::abort();
  using enum fast::bf16_arithmetic;
  constexpr fast::bf16_arithmetic known[]{f32, dot_products, f32, tile_products};
  auto by = known[in.header[fuzz::choice] / sets.size() % std::size(known)];
  if (!std::holds_alternative<problem::instance<problem::bf16>>(instance.value()) || !fast::is_here(by)) by = f32;
  auto const claim = by == f32 ? tests::builtin_claim(instance.value()) : tests::dot_product_claim(instance.value());
  fast::options const how{.threads = 1, .bf16_arithmetic = by};
  audit::judgement const judged = audit::judge(instance.value(), tests::builtin_answer(in.problem, how), claim);
  if (judged.failed == 0 && judged.undecided == 0) return 0;
  for (audit::violation const& wrong : judged.violations) std::fprintf(stderr, "%s\n", wrong.sentence.c_str());
  std::fprintf(stderr, "%ld elements failed, %ld undecided\n", static_cast<long>(judged.failed),
               static_cast<long>(judged.undecided));
  std::abort();
}
