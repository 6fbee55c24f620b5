// Hostile files of recorded tensors: each is read, or refused with a sentence.
//
// Bytes → safetensors → recorded problems → validation.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "audit/files/case_file.hpp"
#include "audit/files/flag_words.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/files/safetensors.hpp"
#include "audit/oracle/vectors_json.hpp"
#include "fuzz/support/require.hpp"

namespace {

using namespace attest;
using fuzz::require;

/// A problem that was accepted can be read to its last element.
void touch(audit::owned_tensor const& tensor) {
  require(tensor.bytes.size() == tensor.spanned_elements() * problem::size_of(tensor.type));
}

/// The same bytes as a file of vectors.
void read_vectors(std::string_view text) {
  auto const file = audit::parse_vectors(text);
  if (!file) return require(!file.why().reason.empty());
  for (audit::vector_case const& entry : file.value().cases) {
    audit::problem_draft const& draft = entry.problem.draft();
    for (auto const* tensor : {&draft.q, &draft.k, &draft.v}) touch(*tensor);
    require(problem::make_instance(draft.arguments()).has_value());
  }
  // What was read can be written, and reads back as the same text.
  std::string const again = audit::vector_text(file.value());
  auto const reread = audit::parse_vectors(again);
  require(reread.has_value() && audit::vector_text(reread.value()) == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size > 0 && data[0] == '{') read_vectors({reinterpret_cast<char const*>(data), size});
  auto const bytes = std::as_bytes(std::span(data, size));
  auto const file = audit::parse_safetensors(bytes);
  if (!file) {
    require(!file.why().reason.empty());
    return 0;
  }
  for (auto const& [name, tensor] : file.value().tensors)
    require(tensor.bytes.empty() || (tensor.bytes.data() >= bytes.data() &&
                                     tensor.bytes.data() + tensor.bytes.size() <= bytes.data() + bytes.size()));
  auto const recorded = audit::problem_file_of(file.value());
  if (!recorded) {
    require(!recorded.why().reason.empty());
    return 0;
  }
  for (auto const& entry : recorded.value().problems) {
    audit::problem_draft const& draft = entry.problem.draft();
    for (auto const* tensor : {&draft.q, &draft.k, &draft.v}) touch(*tensor);
    require(problem::make_instance(draft.arguments()).has_value());
  }
  // What was read can be written, and reads back as the same number of problems.
  auto const again = audit::problem_file_bytes(recorded.value().problems, recorded.value().metadata);
  require(again.has_value());
  auto const reread = audit::parse_safetensors(again.value());
  require(reread.has_value());
  auto const problems = audit::problem_file_of(reread.value());
  require(problems.has_value() && problems.value().problems.size() == recorded.value().problems.size());
  auto inputs = reread.value();
  audit::drop_outputs(inputs);
  auto const alone = audit::problem_file_of(inputs);
  require(alone.has_value() && alone.value().problems.size() == recorded.value().problems.size());
  for (auto const& entry : alone.value().problems) require(entry.outputs.empty() && entry.unusable.empty());
  auto joined = audit::with_outputs(alone.value(), reread.value());
  require(joined.has_value());
  auto const cases = audit::cases_of(std::move(joined).value());
  if (!cases) {
    require(!cases.why().reason.empty());
    return 0;
  }
  for (audit::recorded_case const& entry : cases.value()) {
    require(entry.calls.size() == entry.outputs.size() && entry.outputs.size() == entry.input.further.size() + 1);
    for (std::size_t call = 0; call < entry.calls.size(); ++call) audit::flag_words(entry.input.call(call));
  }
  return 0;
}
