// Sizes that no vector width divides, and counts at the ends of 15 and 16 bits.
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {
namespace {

void add_tails(case_list& to) {
  auto const plain = [&](std::string const& name, problem::sizes const& s) -> audit_case& {
    auto random = to.random("tails", name);
    return to.add("tails", name, gaussian(s, to.type(), random));
  };
  bool const quick = to.options().quick;
  for (std::int64_t m = 1; m <= 40; m += quick ? 3 : 1) {
    plain(fmt::format("keys{}", m), {1, 1, 1, m, m, 8, 8});
    if (!quick || m % 2 == 1) plain(fmt::format("keys{}-n1-d5-dv3", m), {1, 1, 1, 1, m, 5, 3});
  }
  // Every tail up to twice the widest vector there is (16 floats), and a prime beyond.
  for (std::int64_t size = 1; size <= 33; size += quick ? 6 : 1) {
    plain(fmt::format("d{}", size), {1, 1, 1, 9, 9, size, size});
    plain(fmt::format("dv{}", size), {1, 1, 1, 3, 9, 4, size});
    plain(fmt::format("queries{}", size), {1, 1, 1, size, 5, 8, 8});
  }
  // Head dimensions in use.
  for (std::int64_t const d : {40, 64, 72, 80, 96, 112, 128, 160, 192, 256, 320, 576})
    if (!quick || d == 64 || d == 80 || d == 128) plain(fmt::format("d{}", d), {1, 1, 1, 9, 9, d, d});
  plain("d67-dv67", {1, 1, 1, 3, 9, 67, 67});
  for (std::int64_t const m : {63, 64, 65, 127, 128, 129, 255, 256, 257}) {
    plain(fmt::format("around-block-{}", m), {1, 1, 1, 2, m, 8, 8});
    if (!quick && m < 255) plain(fmt::format("square-{}", m), {1, 1, 1, m, m, 8, 8});
  }
  plain("beyond-16-bits", {1, 1, 1, 1, 4200, 16, 16});  // 67,200 elements of V
  plain("no-queries", {1, 2, 2, 0, 5, 4, 4});
  plain("no-value-columns", {1, 1, 1, 3, 5, 4, 0});
  plain("no-head-dimension", {1, 1, 1, 3, 5, 0, 4});
}

/// As many batch entries, heads or queries as a number of 15 or 16 bits holds, one fewer, and one more; everything
/// else is as small as it can be. A few rows are judged: the first ones, the last ones and some between.
void add_large_counts(case_list& to) {
  auto const ask = [&](std::string const& name, problem::sizes const& s) {
    auto random = to.random("tails", name);
    audit_case& made = to.add("tails", name, gaussian(s, to.type(), random));
    made.rows = sampled_rows(s, 96, random);
    for (std::int64_t const at : {0x7ffe, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x10000})
      if (std::int64_t const all = s.b * s.hq * s.n; at < all)
        made.rows.push_back({at / (s.hq * s.n), at / s.n % s.hq, at % s.n});
    put_in_order(made.rows);
    made.once = true;
  };
  for (std::int64_t const count : {0x8000, 0xffff, 0x10000, 0x10001}) {
    if (to.options().quick && count != 0x10001) continue;
    ask(fmt::format("batch{}", count), {count, 1, 1, 1, 1, 1, 1});
    ask(fmt::format("heads{}", count), {1, count, count, 1, 1, 1, 1});
    ask(fmt::format("queries{}", count), {1, 1, 1, count, 1, 1, 1});
    ask(fmt::format("keys{}", count), {1, 1, 1, 1, count, 1, 1});
  }
  ask("batch257-heads256", {257, 256, 1, 1, 1, 1, 1});
}

}  // namespace

void add_shapes(case_list& to) {
  add_tails(to);
  add_large_counts(to);
}

}  // namespace attest::audit
