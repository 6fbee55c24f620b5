#include "audit/asking/kernel_build.hpp"

#include "audit/builtin/builtin_sets.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/report/version.hpp"
#include "audit/support/sha256.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {
namespace {

/// The SHA-256 of the model that the built-in kernel declares for a call with all sizes 1.
std::string builtin_claim(problem::element_type type) {
  problem_draft smallest;
  smallest.q = smallest.k = smallest.v = owned_tensor::compact(type, {1, 1, 1, 1});
  contract claim{.name = "smallest", .sentence = "", .type = type};
  claim.fixed = builtin_model(owned_problem::of_valid(std::move(smallest)).instance());
  return sha256_of(contract_text(claim));
}

}  // namespace

kernel_build build_of(std::string const& spec, int channel, problem::element_type type) {
  auto const library = library_of(spec, channel);
  // The file of a program says nothing about the kernel: it is the same interpreter for every kernel.
  if (!library || library.value().is_process() || library.value().is_program()) return {};
  kernel_build build{.symbol = library.value().symbol};
  if (constexpr std::string_view word = "builtin", prefix = "builtin:"; spec == word || spec.starts_with(prefix)) {
    build.version = version, build.claim = builtin_claim(type);
    auto const sets = builtin_sets();
    build.instructions = spec != word ? spec.substr(prefix.size()) : std::string(sets.empty() ? "" : sets.front().word);
  } else if (auto hash = sha256_of_file(library.value().path)) {
    build.sha256 = std::move(hash).value();
  }
  return build;
}

}  // namespace attest::audit
