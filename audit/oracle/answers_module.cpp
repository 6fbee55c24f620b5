#include "audit/oracle/answers_module.hpp"

attest::audit::answering const* attest_answering() {
  static constexpr attest::audit::answering functions{&attest::audit::run_solve, &attest::audit::run_reference,
                                                      &attest::audit::run_explain};
  return &functions;
}
