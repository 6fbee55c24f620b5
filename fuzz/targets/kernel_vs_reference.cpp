// Bytes → a valid problem → the built-in kernel and the certified reference side by side, on an instruction set of the
// input's choice, and where it has them and the numbers are bf16 perhaps by dot products: an element outside the kernel's own
// bound is a crash.
#include <cstdio>
#include <cstdlib>

#include "audit/judge/judge_outputs.hpp"
#include "fast/simd/bf16_pairs.hpp"
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
  bool const dot = std::holds_alternative<problem::instance<problem::bf16>>(instance.value()) &&
                   fast::bf16_pairs_here() != nullptr && in.header[fuzz::choice] / sets.size() % 2 == 1;
  auto const claim = dot ? tests::dot_product_claim(instance.value()) : tests::builtin_claim(instance.value());
  using fast::bf16_arithmetic;
  fast::options const how{.threads = 1, .bf16_arithmetic = dot ? bf16_arithmetic::dot_products : bf16_arithmetic::f32};
  audit::judgement const judged = audit::judge(instance.value(), tests::builtin_answer(in.problem, how), claim);
  if (judged.failed == 0 && judged.undecided == 0) return 0;
  for (audit::violation const& wrong : judged.violations) std::fprintf(stderr, "%s\n", wrong.sentence.c_str());
  std::fprintf(stderr, "%ld elements failed, %ld undecided\n", static_cast<long>(judged.failed), static_cast<long>(judged.undecided));
  std::abort();
}
