// Kernels of version 2 with one mistake each about entries: their lengths, packed rows, pages.
#include <algorithm>
#include <bit>

#include "audit/zoo/operator/kernel.hpp"

namespace attest::zoo {
namespace {
/// Has the call a tensor of queries and keys, which has no columns behind the last key?
template <class F>
bool has_pairs(operator_place<F> const& at) {
  return at.p.mask().present || at.p.bias().present || at.p.bias_f32().present || at.p.block_mask().present ||
         at.p.keep().present;
}
}  // namespace
}  // namespace attest::zoo

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

ATTEST_OPERATOR(last_entry_to_end, bug_class::entries, "no public report",
                "the keys of the last packed entry go on to the end of the tensor") {
  static std::int64_t further(operator_place<F> const& at) {
    auto const& keys = at.p.entries().keys;
    return keys.is_packed() && at.b + 1 == at.size().b && !has_pairs(at) ? keys.total - keys.offsets[at.b + 1] : 0;
  }
  static std::int64_t keys(operator_place<F> const& at) { return at.p.keys(at.b) + further(at); }
  static std::int64_t diagonal(operator_place<F> const& at) {
    return honest_operator<F>::diagonal(at) + (at.p.parameters().align != 0 ? further(at) : 0);
  }
  static bool in_band(operator_place<F> const& at, std::int64_t j) {
    std::int64_t const distance = j - (at.i + diagonal(at)), left = at.p.band().left, right = at.p.band().right;
    return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
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

ATTEST_OPERATOR(page_of_32_keys, bug_class::pages, "no public report",
                "the table is read once for 32 keys, also where a page is smaller") {
  static F const* row(operator_place<F> const& at, problem::view<F const> const& of, std::int64_t j) {
    if (!at.paged()) return honest_operator<F>::row(at, of, j);
    std::int64_t const page = at.pages().page, first = j / 32 * 32 / page * page;
    return of.row(at.b, at.h / at.group(), first) + j % page * of.stride[2];
  }
};

ATTEST_OPERATOR(pages_up_to_8, bug_class::pages, "no public report",
                "the keys of a paged entry are read up to a multiple of 8, at most to the end of the page") {
  static std::int64_t keys(operator_place<F> const& at) {
    std::int64_t const m = at.p.keys(at.b);
    if (!at.paged() || has_pairs(at)) return m;
    auto const up_to = [&](std::int64_t tile) { return (m + tile - 1) / tile * tile; };
    return std::min(up_to(8), up_to(at.pages().page));
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
