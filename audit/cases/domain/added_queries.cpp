#include "audit/cases/domain/added_queries.hpp"

#include <cstring>
#include <variant>

#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

bool rows_differ(owned_tensor const& one, owned_tensor const& other, std::int64_t b, std::int64_t h, std::int64_t j) {
  std::size_t const bytes = problem::size_of(one.type), width = static_cast<std::size_t>(one.layout.shape[3]);
  return std::memcmp(one.bytes.data() + bytes * offset_of(one, b, h, j, 0),
                     other.bytes.data() + bytes * offset_of(other, b, h, j, 0), bytes * width) != 0;
}

}  // namespace

bool added_queries_tell(owned_problem const& one, owned_problem const& other, std::int64_t first, std::int64_t count) {
  problem::sizes const& s = one.size();
  if (s.n == count) return false;
  auto const is_seen = [&](auto const& instance, std::int64_t b, std::int64_t hk, std::int64_t j) {
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) {
        bool const added = i < first || i >= first + count;
        if (added && reference::key_head(s, h) == hk && reference::visible(instance, b, h, i, j)) return true;
      }
    return false;
  };
  problem_draft const &p = one.draft(), &q = other.draft();
  return std::visit(
      [&](auto const& instance) {
        for (std::int64_t b = 0; b < s.b; ++b)
          for (std::int64_t hk = 0; hk < s.hk; ++hk)
            for (std::int64_t j = 0; j < s.m; ++j) {
              bool const differ = rows_differ(p.k, q.k, b, hk, j) || rows_differ(p.v, q.v, b, hk, j);
              if (differ && is_seen(instance, b, hk, j)) return true;
            }
        return false;
      },
      one.instance());
}

}  // namespace attest::audit
