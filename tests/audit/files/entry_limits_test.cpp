// The work that a file with packed or paged entries may demand of its reader.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "audit/files/problem_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::entry_limits_test {
namespace {

/// A file in memory, put together tensor by tensor.
struct file_builder {
  safetensors_file file{};
  std::deque<owned_tensor> owned{};

  /// A tensor of zeros.
  file_builder& add(std::string const& name, std::vector<std::int64_t> const& shape) {
    std::size_t elements = 1;
    for (std::int64_t const extent : shape) elements *= static_cast<std::size_t>(extent);
    owned.push_back({problem::element_type::f32, {}, std::vector<std::byte>(elements * sizeof(float))});
    file.tensors[name] = {"F32", shape, owned.back().bytes};
    return *this;
  }
  file_builder& add_numbers(std::string const& name, std::vector<std::int64_t> const& shape,
                            std::vector<std::int32_t> const& numbers) {
    auto const bytes = std::as_bytes(std::span(numbers));
    owned.push_back({problem::element_type::i32, {}, {bytes.begin(), bytes.end()}});
    file.tensors[name] = {"I32", shape, owned.back().bytes};
    return *this;
  }
  std::string refusal() const {
    auto const read = problem_file_of(file);
    return read ? "accepted" : read.why().message();
  }
};

/// So many entries of one query, whose keys are page 0 of a pool, again and again.
std::string of_pages(std::int64_t entries, std::int64_t columns, std::int64_t page, std::int64_t keys,
                     std::int64_t pages = 1) {
  file_builder builder;
  builder.add("x.q", {entries, 1, 1, 1}).add("x.k", {pages, 1, page, 1}).add("x.v", {pages, 1, page, 1});
  builder.add_numbers("x.block_table", {entries, columns},
                      std::vector<std::int32_t>(static_cast<std::size_t>(entries * columns)));
  builder.add_numbers("x.k_lengths", {entries},
                      std::vector<std::int32_t>(static_cast<std::size_t>(entries), static_cast<std::int32_t>(keys)));
  return builder.refusal();
}

/// So many entries without queries, or with one each, of these heads.
std::string of_heads(std::int64_t empty, std::int64_t full, std::int64_t heads) {
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(empty + 1));
  for (std::int32_t at = 1; at <= full; ++at) offsets.push_back(at);
  std::int64_t const entries = empty + full;
  file_builder builder;
  builder.add("x.q", {1, heads, full, 1}).add("x.k", {entries, 1, 1, 1}).add("x.v", {entries, 1, 1, 1});
  builder.add_numbers("x.q_offsets", {entries + 1}, offsets);
  return builder.refusal();
}

constexpr std::int64_t million = std::int64_t{1} << 20;

}  // namespace

TEST_CASE("the keys of a paged entry are bounded by its pool, not by the product of two axes", "[unit]") {
  CHECK(of_pages(1, 1 << 10, 1 << 10, million) == "accepted");
  // Memory follows the room of an entry, whatever its length.
  CHECK(of_pages(1, 1 << 11, 1 << 10, 5) ==
        "x.block_table: gives an entry room for 2097152 keys, and the pool has 1024 rows: an entry has at most 1048576 "
        "keys, or as many as the pool has rows; columns behind its length may be left out");
  CHECK(of_pages(1, 1 << 11, 1 << 10, 5, 1 << 11) == "accepted");
}

TEST_CASE("entries may share a long prompt, but not without end", "[unit]") {
  // 1,024 sequences that share a prompt of 65,536 keys.
  CHECK(of_pages(1024, 64, 1024, 65536) == "accepted");
  CHECK(of_pages(1025, 64, 1024, 65536) ==
        "x.block_table: gives the entries 67174400 keys together, and the pool has 1024 rows: they have at most "
        "67108864, or 64 times as many as the pool has rows");
  CHECK(of_pages(2048, 1, 1, 1) == "accepted");
}

TEST_CASE("heads of entries without queries are counted: they have no bytes", "[unit]") {
  CHECK(of_heads(1 << 10, 0, 1 << 10) == "accepted");
  CHECK(of_heads(1 << 10, 3, 1 << 10) == "accepted");
  CHECK(of_heads((1 << 10) + 1, 3, 1 << 10) ==
        "x.q_offsets: 1025 entries have no queries, and q has 1024 heads: entries without queries have at most 1048576 "
        "rows along their heads");
  CHECK(of_heads(0, 1 << 11, 1 << 11) == "accepted");
}

}  // namespace attest::audit::entry_limits_test
