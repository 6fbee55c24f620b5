// A width that is often too small: what it leaves open shows whether the others agree with it.
#include "reference/compiled/row-inl.hpp"

namespace attest::reference::compiled {
namespace {
[[gnu::used]] constexpr auto at_64 = rows_of<64>(every_type);
}
}  // namespace attest::reference::compiled
