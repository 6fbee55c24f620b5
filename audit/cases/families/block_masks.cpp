// Masks of blocks: all blocks set, drawn ones, other bytes than 1, and blocks beside a band or a mask of elements.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {

void add_block_masks(case_list& to) {
  {
    auto random = to.random("block-masks", "plain");
    problem_draft draft = gaussian({1, 2, 2, 32, 32, 16, 16}, to.type(), random);
    draft.block_q = draft.block_k = 8;
    draft.block_mask = owned_tensor::compact(problem::element_type::u8, {1, 1, 4, 4});
    fill(*draft.block_mask, [](auto, auto, auto i, auto j) { return j <= i ? 1.0 : 0.0; });
    to.add("block-masks", "plain", std::move(draft));
  }
  struct shape {
    std::int64_t n, m, block_q, block_k;
  };
  for (auto const& [n, m, block_q, block_k] : {shape{16, 32, 16, 16}, shape{20, 45, 8, 16}, shape{33, 70, 16, 32},
                                               shape{9, 9, 4, 3}, shape{130, 130, 64, 32}, shape{5, 300, 1, 128}})
    for (char const* const how : {"drawn", "all", "causal", "masked", "bytes"}) {
      std::string const kind = how, name = fmt::format("{}-{}x{}-of-{}x{}", how, n, m, block_q, block_k);
      auto random = to.random("block-masks", name);
      problem_draft draft = gaussian({2, 4, 2, n, m, 16, 16}, to.type(), random);
      draft.block_q = block_q, draft.block_k = block_k;
      bool const all = kind == "all";
      draft.block_mask =
          owned_tensor::compact(problem::element_type::u8,
                                {2, kind == "drawn" ? 4 : 1, (n + block_q - 1) / block_q, (m + block_k - 1) / block_k});
      auto* byte = draft.block_mask->as<std::uint8_t>();
      for (std::size_t at = 0; at < draft.block_mask->bytes.size(); ++at)
        byte[at] = all || random.below(2) == 0 ? static_cast<std::uint8_t>(kind == "bytes" ? 1 + random.below(255) : 1)
                                               : std::uint8_t{0};
      // Rows of blocks with all blocks set, and with none.
      std::int64_t const columns = draft.block_mask->layout.shape[3];
      if (draft.block_mask->layout.shape[2] > 1 && !all)
        std::fill_n(byte, columns, std::uint8_t{0}), std::fill_n(byte + columns, columns, std::uint8_t{1});
      if (kind == "causal") draft.band = {m - n, -1, 0};
      if (kind == "masked") add_mask(draft, 2, 1, n, m, [&](auto...) { return random.below(3) != 0; });
      to.add("block-masks", name, std::move(draft));
    }
}

}  // namespace attest::audit
