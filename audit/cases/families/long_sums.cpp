// Sums of very many equal terms, which stop growing if they are kept in 16 bits.
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

/// Every key has the same score, so that l is m times one weight. The columns of V: 1 and 0.1 everywhere; 1 in the
/// first half of the keys and in the last half, to which a sum that stands still gives different weight; 1 at every
/// other key; a slow ramp; ±1; 1 at the last key alone.
void add_long_sums(case_list& to) {
  bool const quick = to.options().quick;
  auto const add = [&](std::string const& name, std::int64_t n, std::int64_t m) {
    problem_draft draft = blank({1, 1, 1, n, m, 8, 8}, to.type());
    draft.scale = 1;
    fill(draft.q, [](auto...) { return 0.25; });
    fill(draft.k, [](auto...) { return 0.5; });
    fill(draft.v, [&](auto, auto, auto j, auto c) {
      bool const first_half = 2 * j < m;
      double const values[]{1,
                            0.1,
                            first_half ? 1.0 : 0.0,
                            first_half ? 0.0 : 1.0,
                            j % 2 ? 1.0 : 0.0,
                            static_cast<double>(j) / static_cast<double>(m),
                            j % 2 ? 1.0 : -1.0,
                            j == m - 1 ? 1.0 : 0.0};
      return values[c];
    });
    to.add("long-sums", name, std::move(draft));
  };
  add(quick ? "square-m64" : "square-m512", quick ? 64 : 512, quick ? 64 : 512);
  for (std::int64_t const m : {512, 4096, 8192, 70'000})
    if (!quick || m == 4096) add(fmt::format("one-query-m{}", m), 1, m);
}

}  // namespace attest::audit
