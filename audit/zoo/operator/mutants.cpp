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

// --- lengths and packed rows ---

ATTEST_OPERATOR(length_ignored, bug_class::entries, "SageAttention PR#372", "every entry has all keys of its slot") {
  static std::int64_t keys(operator_place<F> const& at) {
    return at.paged() ? at.p.keys(at.b) : at.p.entries().keys.room(at.b);
  }
};

ATTEST_OPERATOR(length_one_too_many, bug_class::entries, "vllm PR#47305",
                "each entry has one key more, where there is room") {
  static std::int64_t keys(operator_place<F> const& at) {
    std::int64_t const m = at.p.keys(at.b);
    return !at.paged() && at.p.k().map.starts == nullptr && m < at.size().m ? m + 1 : m;
  }
};

ATTEST_OPERATOR(length_up_to_tile, bug_class::entries, "no public report",
                "the keys of an entry are read up to a multiple of 16, where there is room") {
  static std::int64_t keys(operator_place<F> const& at) {
    std::int64_t const m = at.p.keys(at.b);
    if (at.paged() || at.p.k().map.starts != nullptr) return m;
    return std::min((m + 15) / 16 * 16, at.size().m);
  }
};

ATTEST_OPERATOR(length_one_too_few, bug_class::entries, "onnxruntime PR#27992",
                "the last key of each shortened entry is lost") {
  static std::int64_t keys(operator_place<F> const& at) {
    std::int64_t const m = at.p.keys(at.b);
    return m > 0 && m < at.size().m ? m - 1 : m;
  }
};

ATTEST_OPERATOR(length_of_first_entry, bug_class::entries, "cutlass#2336",
                "every entry has as many keys as the first, at most") {
  static std::int64_t keys(operator_place<F> const& at) { return std::min(at.p.keys(0), at.p.keys(at.b)); }
};

ATTEST_OPERATOR(length_of_longest_entry, bug_class::entries, "no public report",
                "every entry has as many keys as the longest") {
  static std::int64_t keys(operator_place<F> const& at) {
    std::int64_t most = 0;
    for (std::int64_t b = 0; b < at.size().b; ++b) most = std::max(most, at.p.keys(b));
    return at.p.entries().keys.is_packed() || at.paged() ? at.p.keys(at.b) : most;
  }
};

ATTEST_OPERATOR(keys_begin_by_q_offsets, bug_class::entries, "no public report",
                "the keys of a packed entry begin where q_offsets says, as far as there are rows") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    auto const& [queries, keys] = at.p.entries();
    if (!queries.is_packed() || !keys.is_packed()) return honest_operator<F>::row(at, of, j);
    std::int64_t const begin = std::min<std::int64_t>(queries.offsets[at.b], keys.total - keys.used(at.b));
    return of.row(at.b, at.h / at.group(), j) + (begin - keys.offsets[at.b]) * of.stride[2];
  }
};

ATTEST_OPERATOR(end_of_slot, bug_class::entries, "onnx PR#8068",
                "bands are aligned at the end of the slots, not of the entries") {
  static bool in_band(operator_place<F> const& at, std::int64_t j) {
    auto const [diagonal, left, right] = at.p.band();
    std::int64_t const shift = at.p.parameters().align != 0 ? at.size().m - at.size().n : 0;
    std::int64_t const distance = j - (at.i + diagonal + shift);
    return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
  }
};

ATTEST_OPERATOR(alignment_ignored, bug_class::entries, "pytorch#81077", "the alignment is not looked at") {
  static bool in_band(operator_place<F> const& at, std::int64_t j) {
    auto const [diagonal, left, right] = at.p.band();
    std::int64_t const distance = j - (at.i + diagonal);
    return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
  }
};

ATTEST_OPERATOR(next_entry_seen, bug_class::entries, "flash-attention#1537",
                "packed entries see the first key of the next") {
  static std::int64_t keys(operator_place<F> const& at) {
    auto const& side = at.p.entries().keys;
    bool const has_next = side.is_packed() && at.b + 1 < at.size().b && side.used(at.b + 1) > 0;
    return side.used(at.b) + (has_next ? 1 : 0);
  }
};

ATTEST_OPERATOR(empty_entry_is_nan, bug_class::entries, "cudnn-frontend PR#740",
                "queries of an entry without keys answer NaN") {
  static F empty_output(operator_place<F> const& at) {
    return at.p.keys(at.b) == 0 && at.size().m > 0 ? std::numeric_limits<F>::quiet_NaN() : F(0);
  }
};

ATTEST_OPERATOR(empty_entry_ends_call, bug_class::entries, "sglang PR#15757",
                "entries behind one without keys are not answered") {
  static bool answers(operator_place<F> const& at) {
    for (std::int64_t e = 0; e < at.b; ++e)
      if (at.p.keys(e) == 0 && at.size().m > 0) return false;
    return true;
  }
};

// --- pages ---

ATTEST_OPERATOR(table_ignored, bug_class::pages, "onnxruntime PR#32391", "page n of an entry is page n of the pool") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    if (!at.paged()) return honest_operator<F>::row(at, of, j);
    std::int64_t const page = at.pages().page;
    return of.data + (j / page * of.stride[0] + at.h / at.group() * of.stride[1] + j % page * of.stride[2]);
  }
};

ATTEST_OPERATOR(table_of_first_entry, bug_class::pages, "mistral.rs#2094", "every entry reads the pages of the first") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    bool const there = at.paged() && j < at.p.keys(0);
    return of.row(there ? 0 : at.b, at.h / at.group(), j);
  }
};

ATTEST_OPERATOR(page_of_16, bug_class::pages, "flash-attention PR#2711", "pages have 16 keys where they have more") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    if (!at.paged() || at.pages().page <= 16) return honest_operator<F>::row(at, of, j);
    std::int64_t const first = j / at.pages().page * at.pages().page;
    return of.row(at.b, at.h / at.group(), first) + j % 16 * of.stride[2];
  }
};

ATTEST_OPERATOR(page_offset_by_bits, bug_class::pages, "vllm-xpu-kernels PR#335",
                "the place in a page is j & (page - 1), also where the page is no power of two") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    if (!at.paged()) return honest_operator<F>::row(at, of, j);
    std::int64_t const page = at.pages().page, first = j / page * page;
    return of.row(at.b, at.h / at.group(), first) + (j & (page - 1)) * of.stride[2];
  }
};

ATTEST_OPERATOR(window_ignored_in_pages, bug_class::pages, "torchtitan#3235",
                "the left edge of a window is lost where keys are paged") {
  static bool in_band(operator_place<F> const& at, std::int64_t j) {
    if (!at.paged() || at.p.band().left < 0) return honest_operator<F>::in_band(at, j);
    std::int64_t const right = at.p.band().right, distance = j - (at.i + honest_operator<F>::diagonal(at));
    return right < 0 || distance <= right;
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
