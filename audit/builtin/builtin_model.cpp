#include "audit/contract/contract.hpp"
#include "fast/algorithm/backward_model.hpp"
#include "fast/algorithm/model.hpp"

namespace attest::audit {

problem::kernel_model builtin_model(problem::any_instance const& instance) {
  return std::visit([](auto const& p) { return fast::model(p); }, instance);
}

problem::gradient_model builtin_gradient(problem::any_instance const& instance) {
  return std::visit([](auto const& p) { return fast::backward_model(p); }, instance);
}

}  // namespace attest::audit
