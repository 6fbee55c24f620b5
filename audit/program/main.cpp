// The program `attest`.
#include <cstdio>
#include <exception>
#include <new>

#include "audit/program/run.hpp"
#include "audit/program/terminal.hpp"

int main(int argc, char** argv) {
  attest::audit::prepare_streams();
  try {
    return attest::audit::run(argc, argv);
  } catch (std::bad_alloc const&) {
    std::fputs("attest: there is not enough memory for this, or this process may not have it (ulimit -v)\n", stderr);
    return attest::audit::usage;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "attest: internal error: %s\n", e.what());
    return attest::audit::usage;
  }
}
