// Kernels of version 2 with one mistake each, of kinds that have been reported.
#include <bit>

#include "audit/zoo/operator/kernel.hpp"

// --- sinks ---

ATTEST_OPERATOR(sink_dropped, bug_class::sink, "vllm PR#52156", "the sink is not counted") {
  static F sink_score(operator_place<F> const&, F) { return -std::numeric_limits<F>::infinity(); }
};

ATTEST_OPERATOR(sink_scaled, bug_class::sink, "rocm-libraries PR#12229", "the sink is multiplied by the scale") {
  static F sink_score(operator_place<F> const& at, F t) { return t * honest_operator<F>::scale(at); }
};

ATTEST_OPERATOR(sink_softcapped, bug_class::sink, "rocm-libraries PR#12229", "the sink is softcapped") {
  static F sink_score(operator_place<F> const& at, F t) { return honest_operator<F>::capped(at, t); }
};

ATTEST_OPERATOR(sink_counted_twice, bug_class::sink, "rocm-libraries#12227", "each of two parts counts the sink") {
  static constexpr int sink_counts = 2;
};

ATTEST_OPERATOR(sink_in_each_tile, bug_class::sink, "no public report", "each tile of 64 keys counts the sink") {
  static F sink_score(operator_place<F> const& at, F t) {
    return t + std::log(static_cast<F>(std::max<std::int64_t>((at.size().m + 63) / 64, 1)));
  }
};

ATTEST_OPERATOR(sink_of_kv_head, bug_class::sink, "composable_kernel PR#3490",
                "the sink belongs to the key-value head") {
  static std::int64_t sink_head(operator_place<F> const& at) { return at.h / at.group(); }
};

ATTEST_OPERATOR(sink_interleaved, bug_class::sink, "sglang-jax PR#905", "the sink belongs to head h mod hk") {
  static std::int64_t sink_head(operator_place<F> const& at) { return at.h % at.size().hk; }
};

ATTEST_OPERATOR(sink_of_first_head, bug_class::sink, "mlx#3452", "every head has the sink of the first") {
  static std::int64_t sink_head(operator_place<F> const&) { return 0; }
};

ATTEST_OPERATOR(sink_narrowed, bug_class::sink, "miles PR#1500", "the sink passes through bf16") {
  static F sink_score(operator_place<F> const&, F t) {
    return static_cast<F>(
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(t)) & std::uint32_t{0xffff0000}));
  }
};

ATTEST_OPERATOR(sink_unshifted, bug_class::sink, "vllm-metal PR#550", "exp of the sink is taken without the maximum") {
  static F sink_weight(F t, F) { return static_cast<F>(std::exp(static_cast<double>(t))); }
};

ATTEST_OPERATOR(sink_not_in_lse, bug_class::sink, "flashinfer PR#5119", "the LSE counts the keys alone") {
  static F log_sum_exp(operator_place<F> const& at, F, F, F keys_M, F keys_l) {
    return honest_operator<F>::log_sum_exp(at, keys_M, keys_l, keys_M, keys_l);
  }
};

ATTEST_OPERATOR(sink_nan_without_keys, bug_class::sink, "no public report",
                "a sink of NaN or +inf makes NaN of a query that sees no key") {
  static F nan_by_sink(operator_place<F> const& at, F otherwise) {
    F const t = honest_operator<F>::template sink<honest_operator<F>>(at);
    return std::isnan(t) || t == honest_operator<F>::infinity ? std::numeric_limits<F>::quiet_NaN() : otherwise;
  }
  static F empty_output(operator_place<F> const& at) { return nan_by_sink(at, 0); }
  static F empty_lse(operator_place<F> const& at) { return nan_by_sink(at, -honest_operator<F>::infinity); }
};

ATTEST_OPERATOR(sink_not_in_empty_rows, bug_class::sink, "TransformerEngine#3249",
                "the LSE of a row that sees no key is -1e30 beside a sink") {
  static F empty_lse(operator_place<F> const& at) {
    return at.p.has_sink() ? F(-1e30) : -std::numeric_limits<F>::infinity();
  }
};

ATTEST_OPERATOR(sink_in_decoding_only, bug_class::sink, "vllm PR#23016", "only calls with one query count the sink") {
  static F sink_score(operator_place<F> const& at, F t) {
    return at.size().n == 1 ? t : -std::numeric_limits<F>::infinity();
  }
};

ATTEST_OPERATOR(sink_clamped, bug_class::sink, "torchtitan PR#2211", "a sink above 20 counts as 20") {
  static F sink_score(operator_place<F> const&, F t) { return t > 20 ? F(20) : t; }
};

ATTEST_OPERATOR_BEHIND(sink_factor_clamped, bug_class::sink, "torchtitan PR#2211",
                       "the factor of the sink is at least e^-20") {
  static constexpr bool sink_behind = true;
  static F sink_factor(F t, F lse, F whole) {
    return std::max(static_cast<F>(std::exp(-20.0)), honest_operator<F>::sink_factor(t, lse, whole));
  }
};

// --- block masks ---

ATTEST_OPERATOR(blocks_ignored, bug_class::mask_polarity, "pytorch#188322", "the block mask is not looked at") {
  static bool is_set(operator_place<F> const&, std::int64_t) { return true; }
};

ATTEST_OPERATOR(blocks_or_band, bug_class::mask_polarity, "flash-attention PR#2563",
                "a set block shows keys outside the band") {
  static bool in_band(operator_place<F> const& at, std::int64_t j) {
    return honest_operator<F>::in_band(at, j) || (at.p.block_mask().present && honest_operator<F>::is_set(at, j));
  }
};

ATTEST_OPERATOR(blocks_of_first_head, bug_class::mask_polarity, "attention-gym#31",
                "every head has the block mask of the first") {
  static bool is_set(operator_place<F> const& at, std::int64_t j) {
    return honest_operator<F>::is_set({at.p, at.b, 0, at.i}, j);
  }
};

ATTEST_OPERATOR(blocks_of_first_batch, bug_class::mask_polarity, "xformers#103",
                "every entry has the block mask of the first") {
  static bool is_set(operator_place<F> const& at, std::int64_t j) {
    return honest_operator<F>::is_set({at.p, 0, at.h, at.i}, j);
  }
};

ATTEST_OPERATOR(partial_block_dropped, bug_class::mask_polarity, "flash-attention#2897",
                "the last block is lost where it is partial") {
  static bool is_set(operator_place<F> const& at, std::int64_t j) {
    std::int64_t const block = at.p.parameters().block_k;
    bool const partial = at.p.block_mask().present && at.size().m % block != 0 && j / block == at.size().m / block;
    return !partial && honest_operator<F>::is_set(at, j);
  }
};

ATTEST_OPERATOR(partial_block_set, bug_class::mask_polarity, "no public report",
                "the last block of keys is taken as set where it is partial") {
  static bool is_set(operator_place<F> const& at, std::int64_t j) {
    std::int64_t const block = at.p.parameters().block_k;
    bool const partial = at.p.block_mask().present && at.size().m % block != 0 && j / block == at.size().m / block;
    return partial || honest_operator<F>::is_set(at, j);
  }
};

ATTEST_OPERATOR(block_byte_2, bug_class::mask_polarity, "pytorch#165838",
                "only the lowest bit of a byte of the block mask counts") {
  static bool is_set(operator_place<F> const& at, std::int64_t j) {
    auto const& blocks = at.p.block_mask();
    auto const& size = at.p.parameters();
    return !blocks.present || (blocks(at.b, at.h, at.i / size.block_q, j / size.block_k) & 1) != 0;
  }
};

// --- dropout ---

ATTEST_OPERATOR(dropout_before_sum, bug_class::dropout, "nki-samples PR#80",
                "dropped weights are missing in the sum of the row") {
  static constexpr bool sums_dropped = false;
};

ATTEST_OPERATOR(dropout_in_sum, bug_class::dropout, "nki-samples PR#80",
                "the sum of the row is over weights that are dropped, and divided by 1 - p, already") {
  static constexpr bool sums_dropped = false;
  static F factor(operator_place<F> const&) { return 1; }
  static F log_sum_exp(operator_place<F> const& at, F M, F l, F keys_M, F keys_l) {
    return honest_operator<F>::log_sum_exp(at, M, l * honest_operator<F>::factor(at), keys_M, keys_l);
  }
};

ATTEST_OPERATOR(dropout_not_divided, bug_class::dropout, "ROCm/triton PR#460",
                "kept weights are not divided by 1 - p") {
  static F factor(operator_place<F> const&) { return 1; }
};

ATTEST_OPERATOR(dropout_divided_by_p, bug_class::dropout, "pytorch#149726", "kept weights are divided by p") {
  static F factor(operator_place<F> const& at) {
    auto const p = static_cast<F>(at.p.parameters().dropout);
    return at.p.keep().present && p > 0 ? F(1) / p : F(1);
  }
};

ATTEST_OPERATOR(dropout_divided_twice, bug_class::dropout, "pytorch PR#197563",
                "kept weights are divided by 1 - p twice") {
  static F factor(operator_place<F> const& at) {
    F const once = honest_operator<F>::factor(at);
    return once * once;
  }
};

ATTEST_OPERATOR(keep_inverted, bug_class::dropout, "ROCm/triton PR#460", "what keep names is dropped") {
  static bool keeps(operator_place<F> const& at, std::int64_t j) {
    return !at.p.keep().present || !honest_operator<F>::keeps(at, j);
  }
};

ATTEST_OPERATOR(keep_of_first_head, bug_class::dropout, "nki-samples PR#80", "every head drops what the first drops") {
  static bool keeps(operator_place<F> const& at, std::int64_t j) {
    return honest_operator<F>::keeps({at.p, at.b, 0, at.i}, j);
  }
};
