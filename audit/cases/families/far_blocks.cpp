// Blocks of keys whose scores lie far below the maximum of their row, but whose values make them matter.
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// The gap of row i below the maximum: drawn in every row except the last, whose weight is the smallest asked. In f16
/// the answer itself must be a normal number, and so must a weight that is rounded to f16.
double gap_of(std::int64_t i, std::int64_t n, problem::element_type type, random_stream& random) {
  double const most = type == problem::element_type::f16 ? 9 : 80;
  double const fraction = i == 0 ? 0 : i == n - 1 ? 1 : random.uniform();
  return std::floor(4 * (3 + (most - 3) * fraction)) / 4;  // exact in every type
}

/// Two blocks of `size` keys. In batch entry 0 the far block is the first, in entry 1 the last. In head 0 all of its
/// keys have the score −gap; in head 1 one drawn key has it, and the others lie lower still. The other block has scores
/// up to 0. In every column except the last, only the far keys have values other than 0. Their weights alone are the
/// answer there, whose relative error is bounded as tightly as any other's. These values are large, so that products
/// underflow only for smaller weights. The constant column is exact if O and l sum the same weights.
void add_far_block(case_list& to, std::int64_t size, std::int64_t n) {
  std::int64_t const m = 2 * size, d = 8;
  double const large = to.type() == problem::element_type::f16 ? 0x1p8 : 0x1p60;
  std::string const name =
      fmt::format("{}-of-{}-keys{}", n == m ? "square" : "rows", size, n == m ? "" : fmt::format("-n{}", n));
  auto random = to.random("far-blocks", name);
  problem_draft draft = blank({2, 2, 2, n, m, d, d}, to.type());
  draft.scale = 1;
  auto const is_far = [&](std::int64_t b, std::int64_t j) { return (j < size) == (b == 0); };
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 2; ++h) {
      std::int64_t const nearest = (b == 0 ? 0 : size) + random.below(size),
                         top = (b == 0 ? size : 0) + random.below(size);
      for (std::int64_t i = 0; i < n; ++i)
        store(draft.q, offset_of(draft.q, b, h, i, 0), gap_of(i, n, to.type(), random)),
            store(draft.q, offset_of(draft.q, b, h, i, 1), 1);
      for (std::int64_t j = 0; j < m; ++j) {
        bool const far = is_far(b, j);
        store(draft.k, offset_of(draft.k, b, h, j, 0), far ? -1.0 : 0.0);
        double const below =
            far ? (h == 0 || j == nearest ? 0 : 0.5 + 2 * random.uniform()) : (j == top ? 0 : 2 * random.uniform());
        store(draft.k, offset_of(draft.k, b, h, j, 1), -below);
        for (std::int64_t c = 0; c < d; ++c)
          store(draft.v, offset_of(draft.v, b, h, j, c),
                c == 0      ? 1.0
                : !far      ? (c == d - 1 ? random.normal() : 0.0)
                : c < d - 1 ? large * (c == 1   ? 1.0
                                       : c == 2 ? 1 + random.uniform()
                                                : random.normal())
                            : large * (1 + random.uniform()));
      }
    }
  to.add("far-blocks", name, std::move(draft));
}

}  // namespace

void add_far_blocks(case_list& to) {
  bool const quick = to.options().quick;
  for (std::int64_t const size : {16, 32})
    if (!quick || size == 16) add_far_block(to, size, 2 * size);
  for (std::int64_t const size : {64, 128})
    if (!quick || size == 128) add_far_block(to, size, quick ? 4 : 16);
}

}  // namespace attest::audit
