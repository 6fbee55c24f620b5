#include "audit/oracle/vectors_module.hpp"

#include <exception>
#include <span>
#include <string>
#include <system_error>

#include "audit/oracle/vectors.hpp"
#include "audit/oracle/vectors_json.hpp"
#include "audit/support/files.hpp"
#include "audit/support/output_file.hpp"

namespace attest::audit {
namespace {

std::optional<problem::error> write_files(std::filesystem::path const& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return problem::error{problem::error_code::unreadable, folder.string(), failed.message()};
  // Tried before the work.
  if (auto const trial = output_file::open((folder / "vectors.json").native()); !trial)
    return problem::error{trial.why().code, name_in_messages(folder), "a file in it " + trial.why().reason};
  for (vector_file const& file : certified_vectors()) {
    std::string const text = vector_text(file);
    if (auto why = write_file(folder / (file.check + ".json"), std::as_bytes(std::span(text)))) return why;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace attest::audit

char const* attest_write_vectors(char const* folder) {
  static std::string sentence;
  try {
    auto const why = attest::audit::write_files(folder);
    if (!why) return nullptr;
    sentence = why->message();
  } catch (std::exception const& e) { sentence = e.what(); }
  return sentence.c_str();
}
