#include "audit/oracle/write_vectors.hpp"

#include "audit/oracle/vectors_module.hpp"
#include "audit/support/locate.hpp"
#include "audit/support/module.hpp"

namespace attest::audit {

std::optional<problem::error> write_vectors(std::filesystem::path const& folder) {
  auto const library = locate_vectors();
  if (!library) return library.why();
  auto const write = symbol_of(library.value(), "attest_write_vectors");
  if (!write) return write.why();
  char const* const why = reinterpret_cast<decltype(&attest_write_vectors)>(write.value())(folder.c_str());
  if (!why) return std::nullopt;
  return problem::error{problem::error_code::unreadable, "--out", why};
}

}  // namespace attest::audit
