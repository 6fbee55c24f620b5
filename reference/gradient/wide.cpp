// The widths for what 128 bits do not decide.
#include "reference/gradient/compiled-inl.hpp"

namespace attest::reference::compiled {
namespace {

[[gnu::used]] constexpr auto at_256 = gradients_of<256>(static_cast<problem::any_instance const*>(nullptr));
[[gnu::used]] constexpr auto at_1152 = gradients_of<1152>(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::reference::compiled
