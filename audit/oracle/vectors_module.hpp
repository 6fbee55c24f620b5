// The interface of libattest_vectors.so, which `attest vectors` loads: no other command has to wait until it is
// compiled.
#pragma once

#include <attest/kernel.h>

/// Writes certified_vectors() as FOLDER/CHECK.json; makes the folder if there is none.
/// Ensures   nullptr, or an error message that is valid until the next call
extern "C" ATTEST_EXPORT char const* attest_write_vectors(char const* folder);
