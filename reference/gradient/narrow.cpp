// 128 bits, the width that decides nearly every element.
#include "reference/gradient/compiled-inl.hpp"

namespace attest::reference::compiled {
namespace {

[[gnu::used]] constexpr auto at_128 = gradients_of<128>(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::reference::compiled
