// Honest kernels of many designs. The audit must certify each of them under the contract that it claims.
#include "audit/zoo/define.hpp"

ATTEST_HONEST(two_passes, "the maximum and all weights first, then the values") {
  static constexpr std::int64_t block = std::int64_t{1} << 40;
};

ATTEST_HONEST(blocks_of_1, "classical online softmax, key by key") {
  static constexpr std::int64_t block = 1;
};

ATTEST_HONEST(blocks_of_16, "online softmax over 16 keys at a time") {};

ATTEST_HONEST(blocks_of_64, "online softmax over 64 keys at a time") {
  static constexpr std::int64_t block = 64;
};

ATTEST_HONEST(last_key_first, "keys from the last to the first, in blocks of 16") {
  static constexpr bool backwards = true;
};

ATTEST_HONEST(fused_dot_products, "every product and sum of a dot product is one fused multiply-add") {
  static F dot(std::span<F const> a, std::span<F const> b) {
    F sum = 0;
    for (std::size_t t = 0; t < a.size(); ++t) sum = std::fma(a[t], b[t], sum);
    return sum;
  }
};

ATTEST_HONEST(pairwise_sums, "all sums by halves") {
  static constexpr std::int64_t block = 64;
  static F sum(std::span<F const> x) {
    if (x.size() <= 1) return x.empty() ? F(0) : x[0];
    return sum(x.first(x.size() / 2)) + sum(x.subspan(x.size() / 2));
  }
  static F dot(std::span<F const> a, std::span<F const> b) {
    if (a.size() <= 1) return a.empty() ? F(0) : a[0] * b[0];
    std::size_t const half = a.size() / 2;
    return dot(a.first(half), b.first(half)) + dot(a.subspan(half), b.subspan(half));
  }
};

ATTEST_SPECIMEN(double_inside, honest_in_double<F>, no_bug, "", "all arithmetic in double") {};

ATTEST_HONEST(reciprocal, "O is multiplied by 1/l") {
  static F quotient(F O, F l) { return O * (F(1) / l); }
};

ATTEST_HONEST(base_2, "log2 e is folded into the scale, weights are powers of two") {
  static constexpr F log2_e = static_cast<F>(1.4426950408889634074);
  static F score(place const& at, F product, std::int64_t j) {
    bool const capped = at.call.softcap != 0;
    F s = capped ? honest<F>::softcap(at, product * honest<F>::scale(at)) * log2_e
                 : product * (honest<F>::scale(at) * log2_e);
    // A finite bias times log2 e may overflow: then it becomes the largest finite number.
    if (at.call.bias) {
      F const b = honest<F>::bias(at, j), scaled = b * log2_e;
      s = s + (std::isinf(scaled) && !std::isinf(b) ? std::copysign(std::numeric_limits<F>::max(), b) : scaled);
    }
    return s;
  }
  static F exp(F x, std::int64_t) { return static_cast<F>(std::exp2(static_cast<double>(x))); }
  static F log_sum_exp(F M, F l) {
    return (M + static_cast<F>(std::log2(static_cast<double>(l)))) * static_cast<F>(0.69314718055994530942);
  }
};

ATTEST_HONEST(split_and_merge, "five parts of the keys, merged by their maxima") {
  static constexpr std::int64_t splits = 5;
};

ATTEST_HONEST(merge_by_lse, "five finished parts, merged by their LSE", "f32-any") {
  static constexpr std::int64_t splits = 5;
  static constexpr bool merges_by_lse = true;
};

ATTEST_HONEST(lazy_rescale, "the maximum may lag by 5 before O and l are rescaled", "f32-any") {
  static constexpr std::int64_t block = 8;
  static constexpr F lazy = 5;
};

ATTEST_HONEST(exp_4_ulp, "exp is up to 4 units in the last place off, up and down in turn") {
  static F exp(F x, std::int64_t tail) {
    auto const exact = static_cast<F>(std::exp(static_cast<double>(x)));
    if (x == 0 || exact < std::numeric_limits<F>::min()) return exact;
    // A relative error of 6u; with the roundings of exp and of the sum about 8u, the ε of the presets.
    F const error = 3 * std::numeric_limits<F>::epsilon() * (tail % 2 ? F(1) : F(-1));
    return exact + exact * error;
  }
};

ATTEST_HONEST(flushes, "weights below the normal numbers become 0") {
  static F exp(F x, std::int64_t) {
    auto const exact = static_cast<F>(std::exp(static_cast<double>(x)));
    return exact < std::numeric_limits<F>::min() ? F(0) : exact;
  }
};

// --- FlashAttention's forward arithmetic ---

/// FlashAttention-2: exponents are fma(s, c, −fl(M·c)), so that the reference point is rounded twice, and the last
/// block is taken first. Its NaN on a block of finite masks alone is a finding; here it answers calls without a bias.
template <class Base>
struct flash_attention_2_steps : Base {
  using R = typename Base::real;
  static constexpr std::int64_t block = 64;
  static constexpr bool backwards = true;
  static constexpr R c = static_cast<R>(1.4426950408889634074);
  static bool supports(attest_call const& call) { return call.bias == nullptr; }
  static R exp2(R x) { return static_cast<R>(std::exp2(static_cast<double>(x))); }
  static R weight(R s, R M, std::int64_t, R (*)(R, std::int64_t)) {
    return s == -Base::infinity ? R(0) : exp2(std::fma(s, c, -(M * c)));
  }
  static R rescale(R old, R M, R (*)(R, std::int64_t)) { return old == -Base::infinity ? R(0) : exp2((old - M) * c); }
};

ATTEST_SPECIMEN(flash_attention_2, flash_attention_2_steps<honest<F>>, no_bug, "",
                "exponents fma(s, log2 e, -fl(M log2 e)), the last of blocks of 64 first") {};

ATTEST_SPECIMEN_FOR(run_narrow, flash_attention_2_bf16, flash_attention_2_steps<honest_narrow<F>>, no_bug, "",
                    "flash_attention_2 with weights rounded to bf16 for V alone", "bf16") {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
};

ATTEST_SPECIMEN_FOR(run_narrow, flash_attention_2_f16, flash_attention_2_steps<honest_narrow<F>>, no_bug, "",
                    "flash_attention_2 with weights rounded to f16 for V alone", "f16") {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
};

ATTEST_HONEST(exp_based_tanh, "softcap by 1 - 2/(e^2y + 1)") {
  static F softcap(place const& at, F s) {
    auto const c = static_cast<F>(at.call.softcap);
    if (c == 0) return s;
    F const y = s / c, size = std::abs(y);
    F const e = static_cast<F>(std::exp(static_cast<double>(size + size)));
    F const tanh = 1 - 2 / (e + 1);
    return c * std::copysign(tanh, y);
  }
};
