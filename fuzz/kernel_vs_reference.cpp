// Bytes → a valid problem → the built-in kernel and the certified reference side by side: an element outside the
// kernel's own bound is a crash.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "audit/judge.hpp"
#include "tests/builtin_kernel.hpp"
#include "tests/problem_recipe.hpp"

namespace {

using namespace attest;

/// Reads small numbers off the input; zeros past its end. The first bytes decide the shape, so that a mutation of one
/// byte changes one thing.
class reader {
 public:
  reader(std::uint8_t const* data, std::size_t size) : data_(data), left_(size) {}

  std::int64_t number(std::int64_t from, std::int64_t to) { return from + byte() % (to - from + 1); }
  bool flag() { return byte() % 2 != 0; }
  bool done() const { return left_ == 0; }

  /// A float whose bits are the input's: NaN, infinities and subnormals among them.
  double any_value(bool f64) {
    if (f64) return of_bits<double>();
    return static_cast<double>(of_bits<float>());
  }

 private:
  std::int64_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  template <class T>
  T of_bits() {
    T value{};
    std::size_t const size = std::min(left_, sizeof(T));
    std::memcpy(&value, data_, size);
    data_ += size, left_ -= size;
    return value;
  }

  std::uint8_t const* data_;
  std::size_t left_;
};

tests::recipe read_recipe(reader& in) {
  tests::recipe r;
  r.seed = static_cast<std::uint64_t>(in.number(0, 255));
  r.f64 = in.number(0, 3) == 0;
  r.b = in.number(1, 2), r.groups = in.number(1, 3), r.hk = in.number(1, 2);
  r.n = in.number(0, 8), r.m = in.number(0, 140), r.d = in.number(0, 20), r.dv = in.number(0, 20);
  r.scores = static_cast<tests::score_regime>(in.number(0, tests::score_regimes - 1));
  r.values = static_cast<tests::value_regime>(in.number(0, tests::value_regimes - 1));
  r.mask = static_cast<tests::mask_regime>(in.number(0, tests::mask_regimes - 1));
  r.bias = in.flag(), r.bias_minus_infinity = in.flag();
  r.diagonal = in.number(-100, 100), r.left = in.number(-1, 100), r.right = in.number(-1, 100);
  r.scale = static_cast<int>(in.number(0, 4));
  return r;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  reader in(data, size);
  tests::recipe const r = read_recipe(in);
  audit::stored_problem asked = tests::make_problem(r);
  // What is left overwrites single elements with arbitrary bits.
  while (!in.done()) {
    audit::stored_tensor& t = in.flag() ? asked.k : in.flag() ? asked.q : asked.v;
    std::size_t const elements = t.spanned_elements();
    auto const at = static_cast<std::size_t>(in.number(0, 255)) * 7;
    double const value = in.any_value(r.f64);
    if (elements > 0) audit::store(t, at % elements, value);
  }
  auto const instance = problem::make_instance(asked.arguments());
  if (!instance) std::abort();
  auto const& claim = *audit::find_contract(r.f64 ? "f64-blocked" : "f32-blocked");
  audit::judgement const judged = audit::judge(instance.value(), tests::builtin_answer(asked), claim);
  if (judged.failed == 0 && judged.undecided == 0) return 0;
  for (audit::violation const& wrong : judged.violations) std::fprintf(stderr, "%s\n", wrong.sentence.c_str());
  std::abort();
}
