// The zoo: mutants, each with one defect of a kind that has shipped in a real kernel, and honest kernels of several
// designs. The audit must refute every mutant and certify every honest design (`attest selftest`).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <attest/kernel.h>

#include "audit/cases/bug_class.hpp"

namespace attest::zoo {

using audit::bug_class;
inline constexpr std::optional<bug_class> no_bug;  ///< an honest design

inline constexpr std::string_view conditional_family = "conditional";  ///< wrong under one condition only
inline constexpr std::string_view operator_family = "operator";        ///< of version 2 of the C interface
inline constexpr std::string_view backward_family = "backward";        ///< with a backward pass

struct specimen {
  std::string_view name;                      ///< its symbol in libattest_zoo.so is zoo_<name>
  std::optional<audit::bug_class> bug_class;  ///< none if there is no defect
  std::string_view seen_in;                   ///< public issues about such a defect
  std::string_view description;               ///< the defect, or the design, in a sentence
  attest_status (*kernel)(attest_call const*);
  /// The contract by which it is judged: a preset, or one with fields of the model, as 'f32 {"x0": 17}' (claim_of).
  std::string_view contract = "f32";
  bool contained = true;         ///< false: may crash or write elsewhere, so it runs only in a process of its own
  std::string_view family = "";  ///< the selftest asks a family by itself
  /// The name of its mistake, as the cause of a report has it (audit/cause/hypotheses/). Several names, separated by
  /// '|', if no answer distinguishes them; "exp-to-*" if only the threshold does. Empty if no hypothesis describes it.
  /// From expected_causes.cpp.
  std::string_view cause = "";

  bool is_honest() const { return !bug_class; }
  std::string_view class_token() const { return bug_class ? audit::token_of(*bug_class) : "honest"; }
};

/// Adds a specimen to the result of specimens(). Called while the program or the library is loaded.
/// Ensures   true, so that a static variable can call it
bool register_specimen(specimen const& added);

/// The value of specimen::cause, by the name of a mutant.
std::string_view expected_cause(std::string_view mutant);

/// All specimens, the honest designs first, then the mutants by class and name.
std::vector<specimen> const& specimens();

/// The specimen of that name, or nullptr.
specimen const* find_specimen(std::string_view name);

}  // namespace attest::zoo

/// specimens() for a program that loads libattest_zoo.so: the first of them, and how many there are.
extern "C" ATTEST_EXPORT attest::zoo::specimen const* attest_zoo_specimens(std::size_t* count);
