// The widths for what 128 bits do not decide.
#include "reference/compiled/row-inl.hpp"

namespace attest::reference::compiled {
namespace {

[[gnu::used]] constexpr auto at_256 = std::tuple{rows_of<256>(every_type), facts_of<256>(every_type)};
[[gnu::used]] constexpr auto at_1152 = std::tuple{rows_of<1152>(every_type), facts_of<1152>(every_type)};
[[gnu::used]] constexpr auto at_4096 = rows_of<4096>(every_type);

}  // namespace
}  // namespace attest::reference::compiled
