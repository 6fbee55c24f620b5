// The program `attest`.
#include <cstdio>
#include <exception>

#include "audit/program/run.hpp"
#include "audit/program/terminal.hpp"

int main(int argc, char** argv) {
  attest::audit::prepare_streams();
  try {
    return attest::audit::run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "attest: internal error: %s\n", e.what());
    return attest::audit::usage;
  }
}
