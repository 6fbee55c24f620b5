// A problem with its memory and its checked instance: what cases ask, kernels are given and judges judge by.
#pragma once

#include <memory>
#include <optional>

#include "audit/tensors/problem_draft.hpp"
#include "problem/erased.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Immutable, and cheap to copy: copies share the memory, which stays where it is while one of them lives.
class owned_problem {
 public:
  /// The only way in: everything that problem::make_instance checks, and that each tensor's bytes cover its layout.
  static problem::result<owned_problem> make(problem_draft asked);

  /// The problem of a draft that is valid by construction: a generated one, a part of a valid one.
  /// Requires  make accepts it; if not, prints why and ends the program, since the fault is in our own code
  static owned_problem of_valid(problem_draft asked);

  /// Its tensors and parameters.
  problem_draft const& draft() const noexcept { return contents_->draft; }
  problem::any_instance const& instance() const noexcept { return *contents_->instance; }
  problem::sizes const& size() const noexcept;
  problem::element_type type() const noexcept { return draft().q.type; }
  int rank() const noexcept { return draft().q.where.rank; }

 private:
  struct contents {
    problem_draft draft;
    std::optional<problem::any_instance> instance;  ///< always there once make has returned
  };
  explicit owned_problem(std::shared_ptr<contents const> made) noexcept : contents_(std::move(made)) {}

  std::shared_ptr<contents const> contents_;
};

}  // namespace attest::audit
