// The interface of libattest_answers.so, which `attest solve`, `reference` and `explain` load, so that an audit need
// not wait until it is compiled.
#pragma once

#include <attest/kernel.h>

#include "audit/oracle/explain.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/oracle/solve.hpp"

namespace attest::audit {

struct answering {
  decltype(&run_solve) solve;
  decltype(&run_reference) reference;
  decltype(&run_explain) explain;
};

}  // namespace attest::audit

extern "C" ATTEST_EXPORT attest::audit::answering const* attest_answering();
