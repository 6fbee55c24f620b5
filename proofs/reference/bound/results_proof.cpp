// reference/bound/results.hpp: which answers an overflow of O explains.
#include "proofs/reference/bound/constant_rows.hpp"

namespace attest::proofs {
namespace {

static_assert(
    [] {
      kernel_model m;
      m.format = problem::formats::f32;
      m.out_limit = 65520;
      reference::error_bound bound{1, judged_by::theorem};
      bound.unrounded = 1;
      auto const explained = [&](double got) { return reference::explained_by_overflow(m, bound, 100, 101, got); };
      double const infinity = reference::infinity, nan = std::numeric_limits<double>::quiet_NaN();
      bool const none = !explained(infinity) && !explained(-infinity) && !explained(nan);
      bound.keys_above = 65520;
      return none && explained(infinity) && explained(nan) && !explained(-infinity) && !explained(65504);
    }(),
    "an O of the keys that overflows explains an infinity of its sign and NaN, and no number");

}  // namespace
}  // namespace attest::proofs
