// attest vectors: writes certified test vectors for projects in other languages.
#include <memory>
#include <string>

#include "audit/oracle/write_vectors.hpp"
#include "audit/program/command.hpp"

namespace attest::audit {

action vectors_command(CLI::App& command) {
  auto const out = std::make_shared<std::string>();
  command.add_option("--out", *out, "the folder to write")->required()->type_name("DIR");
  return [out] {
    auto const why = write_vectors(*out);
    return why ? usage_error(why->message()) : 0;
  };
}

}  // namespace attest::audit
