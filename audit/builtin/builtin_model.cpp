#include "audit/contract/contract.hpp"
#include "fast/algorithm/model.hpp"

namespace attest::audit {

problem::kernel_model builtin_model(problem::any_instance const& instance) {
  return std::visit([](auto const& p) { return fast::model(p); }, instance);
}

}  // namespace attest::audit
