// A problem that owns its memory and its validated instance. Cases hold it, kernels run on it, judges use it.
#pragma once

#include <memory>
#include <optional>

#include "audit/tensors/problem_draft.hpp"
#include "problem/erased.hpp"
#include "problem/result.hpp"

// Compiled once, in owned_problem.cpp.
namespace attest::problem {
extern template result<any_instance> make_instance<void>(erased_arguments const&);
extern template class instance<float>;
extern template class instance<double>;
extern template class instance<f16>;
extern template class instance<bf16>;
extern template struct outputs<float>;
extern template struct outputs<double>;
extern template struct outputs<f16>;
extern template struct outputs<bf16>;
}  // namespace attest::problem

namespace attest::audit {

/// Immutable, and cheap to copy: copies share the memory, whose address does not change while one of them lives.
class owned_problem {
 public:
  /// Validates a draft: everything that problem::make_instance validates, and that the bytes of each tensor cover its
  /// layout. This is the only way to an owned_problem.
  static problem::result<owned_problem> make(problem_draft draft);

  /// The problem of a draft that is valid by construction, such as a generated one or a part of a valid problem.
  /// Requires  make accepts the draft; otherwise prints the error and ends the program, since attest itself is at fault
  static owned_problem of_valid(problem_draft draft);

  /// The tensors and parameters.
  problem_draft const& draft() const noexcept { return contents_->draft; }
  problem::any_instance const& instance() const noexcept { return *contents_->instance; }
  problem::sizes const& size() const noexcept;
  problem::element_type type() const noexcept { return draft().q.type; }
  int rank() const noexcept { return draft().q.layout.rank; }

 private:
  struct contents {
    problem_draft draft;
    std::optional<problem::any_instance> instance;  ///< always present after make
  };
  explicit owned_problem(std::shared_ptr<contents const> shared) noexcept : contents_(std::move(shared)) {}

  std::shared_ptr<contents const> contents_;
};

}  // namespace attest::audit
