// The mutants of the family `conditional`: inside their condition their answer is not the honest one, and outside, up
// to the edge, it is the honest one to the bit. Each is asked directly, without an audit.
#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "audit/zoo/conditional/asked.hpp"
#include "audit/zoo/zoo.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_call.hpp"

namespace attest::tests {
namespace {

using problem::element_type;
using enum memory_form;

zoo::specimen const& mutant(std::string_view name) {
  zoo::specimen const* const found = zoo::find_specimen(name);
  REQUIRE(found != nullptr);
  return *found;
}

struct edge {
  std::string_view name;
  small_call inside, outside;
};

constexpr std::int64_t bytes_2_31 = std::int64_t{1} << 31;

// clang-format off
edge const edges[]{
    // sizes
    {"n_above_128", {.n = 129}, {.n = 128}},
    {"n_and_m_above_128", {.n = 129, .m = 129}, {.n = 129, .m = 128}},
    {"n_and_m_above_128", {.n = 129, .m = 129}, {.n = 128, .m = 129}},
    {"scores_above_20000", {.n = 137, .m = 146}, {.n = 125, .m = 160}},
    {"scores_above_a_million", {.n = 1001, .m = 1000, .d = 1, .dv = 1}, {.n = 1000, .m = 1000, .d = 1, .dv = 1}},
    {"m_from_300_to_500", {.m = 300}, {.m = 299}},
    {"m_from_300_to_500", {.m = 500}, {.m = 501}},
    {"m_41_mod_64", {.m = 105}, {.m = 104}},
    {"m_above_300_not_in_eights", {.m = 305}, {.m = 304}},
    {"m_above_300_not_in_eights", {.m = 301}, {.m = 299}},
    {"m_above_4300", {.m = 4301}, {.m = 4300}},
    {"m_power_of_2_above_256", {.m = 512}, {.m = 256}},
    {"m_power_of_2_above_256", {.m = 1024}, {.m = 768}},
    {"m_odd_above_512", {.m = 513}, {.m = 511}},
    {"n_equals_m_above_64", {.n = 65, .m = 65}, {.n = 64, .m = 64}},
    {"n_equals_m_above_64", {.n = 65, .m = 65}, {.n = 65, .m = 66}},
    {"n_is_m_plus_1", {.n = 33, .m = 32}, {.n = 32, .m = 31}},
    {"n_above_m_by_64", {.n = 130, .m = 65}, {.n = 129, .m = 65}},
    {"few_queries_many_keys", {.n = 8, .m = 1001}, {.n = 9, .m = 1001}},
    {"few_queries_many_keys", {.n = 2, .m = 1001}, {.n = 1, .m = 1001}},
    {"many_queries_one_key", {.n = 65, .m = 1}, {.n = 65, .m = 2}},
    {"last_of_500_rows", {.n = 501}, {.n = 499}},
    {"row_1023_of_1500", {.n = 1501}, {.n = 1500}},
    {"last_row_of_257_unwritten", {.n = 257}, {.n = 258}},
    {"last_key_of_2048", {.m = 2048}, {.m = 2047}},
    {"f64_last_key_of_1025", {.m = 1025, .type = element_type::f64}, {.m = 1024, .type = element_type::f64}},
    {"key_twice_from_2048", {.m = 2048}, {.m = 2047}},
    {"f64_key_twice_from_1025", {.m = 1025, .type = element_type::f64}, {.m = 1024, .type = element_type::f64}},
    {"bf16_key_twice_from_1025", {.n = 64, .m = 1025, .type = element_type::bf16},
     {.n = 64, .m = 1024, .type = element_type::bf16}},
    {"f16_key_twice_from_1025", {.n = 64, .m = 1025, .type = element_type::f16},
     {.n = 64, .m = 1024, .type = element_type::f16}},
    {"o_in_bf16_above_600_keys", {.m = 601}, {.m = 600}},
    {"lse_of_2000_keys", {.m = 2001}, {.m = 2000}},
    {"weights_of_600_keys", {.m = 601}, {.m = 600}},
    {"bf16_m_above_512", {.m = 513, .type = element_type::bf16}, {.m = 512, .type = element_type::bf16}},
    {"f16_d_96", {.d = 96, .type = element_type::f16}, {.d = 95, .type = element_type::f16}},
    {"f64_d_above_64", {.d = 65, .type = element_type::f64}, {.d = 64, .type = element_type::f64}},
    {"d_above_256", {.d = 257}, {.d = 256}},
    {"d_80", {.d = 80}, {.d = 81}},
    {"dv_above_128", {.dv = 129}, {.dv = 128}},
    {"d_48_and_m_above_48", {.m = 49, .d = 48}, {.m = 48, .d = 48}},
    {"dv_is_3_d", {.d = 4, .dv = 12}, {.d = 4, .dv = 11}},
    {"d_odd_above_64", {.d = 65}, {.d = 66}},
    {"last_column_above_96", {.dv = 97}, {.dv = 112}},
    {"batch_above_3", {.b = 4}, {.b = 3}},
    {"all_heads_above_24", {.b = 5, .hq = 5}, {.b = 6, .hq = 4}},
    {"all_heads_above_64", {.b = 5, .hq = 13}, {.b = 8, .hq = 8}},
    {"heads_above_12", {.hq = 13}, {.hq = 12}},
    {"seven_heads", {.hq = 7}, {.hq = 8}},
    {"group_above_6", {.hq = 7, .hk = 1}, {.hq = 6, .hk = 1}},
    {"four_key_heads_in_turn", {.hq = 8, .hk = 4, .mask = "1hn"}, {.hq = 6, .hk = 3, .mask = "1hn"}},
    {"groups_of_4_at_d_64", {.hq = 4, .hk = 1, .d = 64}, {.hq = 3, .hk = 1, .d = 64}},
    {"decode_with_many_heads", {.hq = 9, .n = 1}, {.hq = 8, .n = 1}},
    {"decode_of_8_entries", {.b = 8, .n = 1}, {.b = 7, .n = 1}},
    {"last_of_32_heads", {.hq = 32}, {.hq = 31}},
    {"last_of_16_entries", {.b = 16}, {.b = 15}},
    {"lse_of_16_heads", {.hq = 16}, {.hq = 15}},
    // features
    {"mask_per_entry_and_query", {.b = 2, .hq = 2, .mask = "b1n"}, {.b = 2, .hq = 2, .mask = "bhn"}},
    {"mask_per_head_and_query", {.b = 2, .hq = 2, .mask = "1hn"}, {.b = 2, .hq = 2, .mask = "11n"}},
    {"padding_of_the_first_entry", {.b = 2, .hq = 2, .mask = "b11"}, {.b = 2, .hq = 2, .mask = "b1n"}},
    {"mask_per_key", {.b = 2, .mask = "111"}, {.b = 2, .n = 1, .mask = "111"}},
    {"mask_per_entry_and_head", {.b = 2, .hq = 2, .mask = "bh1"}, {.b = 2, .hq = 2, .mask = "b11"}},
    {"mask_byte_2", {.mask = "11n", .mask_byte = 2}, {.mask = "11n", .mask_byte = 3}},
    {"mask_above_256_keys_ignored", {.m = 257, .mask = "11n"}, {.m = 256, .mask = "11n"}},
    {"causal_mask_of_query_0", {.n = 8, .m = 8, .mask = "11n", .right = 0},
     {.n = 8, .m = 9, .mask = "11n", .right = 0}},
    {"broadcast_mask_under_causal", {.n = 8, .mask = "111", .diagonal = 1, .right = 0},
     {.n = 8, .mask = "11n", .diagonal = 1, .right = 0}},
    {"mask_and_bias_above_200_keys", {.m = 201, .mask = "11n", .bias = "11n"},
     {.m = 200, .mask = "11n", .bias = "11n"}},
    {"bias_over_heads_only", {.b = 2, .hq = 2, .bias = "b1n"}, {.b = 2, .hq = 2, .bias = "bhn"}},
    {"full_bias_above_40_keys", {.b = 2, .hq = 2, .m = 41, .bias = "bhn"}, {.b = 2, .hq = 2, .m = 40, .bias = "bhn"}},
    {"full_bias_above_40_keys", {.b = 2, .hq = 2, .m = 41, .bias = "bhn"}, {.b = 2, .hq = 2, .m = 41, .bias = "1hn"}},
    {"bias_per_head_and_key", {.hq = 2, .bias = "1h1"}, {.hq = 2, .bias = "1hn"}},
    {"finite_masks_above_256_keys", {.m = 257, .bias = "11n", .special_keys = 9, .special_bias = -1e9},
     {.m = 256, .bias = "11n", .special_keys = 9, .special_bias = -1e9}},
    {"finite_masks_above_256_keys", {.m = 257, .bias = "11n", .special_keys = 9, .special_bias = -1e30},
     {.m = 257, .bias = "11n", .special_keys = 9, .special_bias = -1e5}},
    {"diagonal_negative", {.diagonal = -1, .right = 0}, {.diagonal = -1}},
    {"diagonal_above_1000", {.diagonal = 1001, .right = 0}, {.diagonal = 1000, .right = 0}},
    {"bottom_right_above_256_keys", {.n = 2, .m = 257, .diagonal = 255, .right = 0},
     {.n = 2, .m = 256, .diagonal = 254, .right = 0}},
    {"right_above_0", {.right = 1}, {.right = 0}},
    {"causal_above_1024_sees_one_more", {.n = 1025, .m = 9, .right = 0}, {.n = 1024, .m = 9, .right = 0}},
    {"window_wider_than_64", {.n = 80, .m = 80, .left = 65, .right = 0}, {.n = 80, .m = 80, .left = 64, .right = 0}},
    {"window_ignored_in_decode", {.n = 1, .m = 64, .diagonal = 63, .left = 32, .right = 0},
     {.n = 1, .m = 64, .diagonal = 63, .left = 31, .right = 0}},
    {"causal_grouped_above_96_keys", {.hq = 2, .hk = 1, .m = 97, .right = 0}, {.hq = 2, .hk = 1, .m = 96, .right = 0}},
    {"causal_more_queries_than_keys", {.n = 50, .m = 49, .right = 0}, {.n = 49, .m = 49, .right = 0}},
    {"softcap_at_d_128", {.d = 128, .softcap = 0.5}, {.d = 127, .softcap = 0.5}},
    {"softcap_above_40", {.softcap = 41}, {.softcap = 40}},
    {"negative_scale", {.scale = -0.5}, {.scale = 0}},
    {"scale_ignored_above_64_dimensions", {.d = 65, .scale = 0.5}, {.d = 64, .scale = 0.5}},
    {"nan_is_0_in_few_keys", {.m = 15, .nan_query = 1}, {.m = 16, .nan_query = 1}},
    {"nan_is_0_in_short_causal_rows", {.n = 20, .m = 20, .nan_query = 14, .right = 0},
     {.n = 20, .m = 20, .nan_query = 15, .right = 0}},
    {"nan_value_without_weight",
     {.bias = "11n", .special_keys = 1, .special_bias = -200, .special_value = std::nan("")},
     {.bias = "11n", .special_keys = 1, .special_bias = -80, .special_value = std::nan("")}},
    {"blocks_20_below_the_maximum",
     {.m = 128, .bias = "11n", .special_keys = 64, .special_bias = -25, .special_value = 1e9},
     {.m = 128, .bias = "11n", .special_keys = 64, .special_bias = -15, .special_value = 1e9}},
    {"blocks_20_below_the_maximum",
     {.m = 128, .bias = "11n", .special_keys = 64, .special_bias = -80, .special_value = 1e36},
     {.m = 128, .bias = "11n", .special_keys = 63, .special_bias = -25, .special_value = 1e9}},
    // threads, history and memory
    {"one_thread", {.threads = 1}, {.threads = 2}},
    {"threads_given", {.threads = 1}, {.threads = 0}},
    {"threads_above_4", {.threads = 5}, {.threads = 4}},
    {"rows_3_threads_cannot_share", {.n = 4, .threads = 3}, {.n = 3, .threads = 3}},
    {"after_2000_calls", {.calls_before = 1}, {.calls_before = 1999}},
    {"after_a_single_key", {.m_before = 1}, {.m_before = 2}},
    {"one_key_more_than_before", {.n = 1, .m_before = 7}, {.n = 1, .m_before = 8}},
    {"fewer_keys_than_before", {.m_before = 33}, {.m_before = 32}},
    {"decode_after_a_prompt", {.n = 1, .n_before = 17}, {.n = 1, .n_before = 16}},
    {"byte_offsets_in_int32", {.b = 2, .stride_of_entries = bytes_2_31 / 4},
     {.b = 2, .stride_of_entries = bytes_2_31 / 4 - 32}},
    {"element_offsets_in_int32", {.b = 2, .stride_of_entries = bytes_2_31},
     {.b = 2, .stride_of_entries = bytes_2_31 - 32}},
    {"score_offsets_in_int32", {.n = 46341, .m = 46341, .d = 1, .dv = 1, .left = 0, .right = 0},
     {.n = 46340, .m = 46341, .d = 1, .dv = 1, .left = 0, .right = 0}},
    {"byte_offset_of_keys_ignored", {.memory = offset_keys}, {}},
    {"byte_offset_of_mask_ignored", {.mask = "11n", .memory = offset_mask}, {.mask = "11n"}},
    {"strides_of_out_ignored", {.memory = gaps_in_out}, {.memory = gaps_in_lse}},
    {"strides_of_lse_ignored", {.hq = 2, .memory = gaps_in_lse}, {.hq = 2, .memory = gaps_in_out}},
    {"stride_0", {.b = 2, .memory = keys_of_stride_0}, {.b = 1, .memory = keys_of_stride_0}},
    {"values_inside_keys", {.memory = values_in_keys}, {}},
    {"overlapping_rows", {.memory = overlapping_keys}, {.m = 1, .memory = overlapping_keys}},
    {"keys_before_heads", {.hq = 2, .memory = keys_before_heads}, {.hq = 2}},
};
// clang-format on

bool is_honest_on(zoo::specimen const& tested, small_call const& asked) {
  return answer_of(tested.kernel, asked) == answer_of(attest_attention, asked);
}

TEST_CASE("a conditional mutant is wrong inside its condition, and honest to the bit outside", "[unit]") {
  for (edge const& at : edges) {
    INFO(at.name);
    zoo::specimen const& tested = mutant(at.name);
    CHECK(tested.family == zoo::conditional_family);
    CHECK(is_honest_on(tested, at.outside));
    CHECK_FALSE(is_honest_on(tested, at.inside));
  }
}

TEST_CASE("every conditional mutant is asked on both sides of its edge, and there are 60 at least", "[unit]") {
  // Those that time or chance decides, that touch other memory or crash, have tests of their own.
  std::set<std::string_view> asked{"after_a_minute", "one_call_in_10000", "writes_into_earlier_out",
                                   "shares_a_workspace", "divides_by_no_heads"};
  for (edge const& at : edges) asked.insert(at.name);
  std::set<std::string_view> mutants;
  for (zoo::specimen const& specimen : zoo::specimens())
    if (specimen.family == zoo::conditional_family && !specimen.is_honest()) mutants.insert(specimen.name);
  CHECK(mutants == asked);
  CHECK(mutants.size() >= 60);
}

TEST_CASE("the mutant of time is honest for a minute from its first call on", "[unit]") {
  static std::chrono::steady_clock::time_point now{};
  zoo::mutant_clock = [] { return now; };
  zoo::specimen const& tested = mutant("after_a_minute");
  CHECK(is_honest_on(tested, {}));
  now += std::chrono::seconds(60);
  CHECK(is_honest_on(tested, {}));
  now += std::chrono::seconds(1);
  CHECK_FALSE(is_honest_on(tested, {}));
  zoo::mutant_clock = std::chrono::steady_clock::now;
}

TEST_CASE("the mutant of chance is wrong in about one call of 10000", "[unit]") {
  zoo::specimen const& tested = mutant("one_call_in_10000");
  small_call_memory call({.n = 1, .m = 1, .d = 1, .dv = 1});
  small_answer const honest = call.answer_of(attest_attention);
  int wrong = 0;
  for (int n = 0; n < 100'000; ++n) wrong += call.answer_of(tested.kernel) != honest;
  CHECK(wrong > 2);
  CHECK(wrong < 30);
}

TEST_CASE("the mutant that remembers out writes into the one of the call before", "[unit]") {
  zoo::specimen const& tested = mutant("writes_into_earlier_out");
  CHECK_FALSE(tested.contained);
  small_call_memory first({}), second({});
  small_answer const honest = first.answer_of(attest_attention);
  CHECK(first.answer_of(tested.kernel) == honest);
  CHECK(first.answer_of(tested.kernel) == honest);
  CHECK(second.answer_of(tested.kernel) == honest);
  CHECK(first.out().bytes() != honest.o);
}

TEST_CASE("the mutant that divides by the number of heads crashes where there are none", "[unit]") {
  zoo::specimen const& tested = mutant("divides_by_no_heads");
  CHECK_FALSE(tested.contained);
  for (std::int64_t const heads : {0, 1}) {
    pid_t const child = fork();
    if (child == 0) {
      signal(SIGFPE, SIG_DFL);
      small_call_memory({.hq = heads}).answer_of(tested.kernel);
      _exit(0);
    }
    int ended = 0;
    REQUIRE(waitpid(child, &ended, 0) == child);
    CHECK((heads == 0 ? WIFSIGNALED(ended) && WTERMSIG(ended) == SIGFPE : WIFEXITED(ended)));
  }
}

TEST_CASE("a kernel that withholds LSE where it would be wrong is no mutant", "[unit]") {
  zoo::specimen const& tested = mutant("lse_withheld_above_1024_keys");
  CHECK(tested.is_honest());
  CHECK(is_honest_on(tested, {.m = 1024}));
  small_call_memory longer({.m = 1025});
  CHECK(longer.answer_of(tested.kernel) == small_answer{});
  small_answer honest = longer.answer_of(attest_attention);
  longer.call.lse = nullptr;
  CHECK(longer.answer_of(tested.kernel).o == honest.o);
}

TEST_CASE("honest kernels that prepare their call answer as the kernel behind them", "[unit]") {
  for (std::string_view const name :
       {"no_condition", "works_on_copies", "keeps_a_workspace", "keeps_a_workspace_a_thread", "band_made_a_mask"}) {
    INFO(name);
    zoo::specimen const& tested = mutant(name);
    CHECK(tested.is_honest());
    CHECK(is_honest_on(tested, {.b = 2, .hq = 2, .n = 20, .m = 20, .mask = "b11", .bias = "1hn", .right = 0}));
    CHECK(is_honest_on(tested, {.n = 20, .m = 20, .left = 3, .right = 1, .memory = gaps_in_out}));
    CHECK(is_honest_on(
        tested, {.hq = 2, .n = 3, .m = 20, .type = element_type::bf16, .mask = "1hn", .memory = keys_before_heads}));
  }
}

}  // namespace
}  // namespace attest::tests
