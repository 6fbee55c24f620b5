// libattest_vectors.so: what `attest vectors` loads, so that no other command waits for it to be compiled.
#pragma once

#include <attest/kernel.h>

/// certified_vectors() as FOLDER/CHECK.json; the folder is made where there is none.
/// Ensures   nullptr, or a sentence that lives until the next call
extern "C" ATTEST_EXPORT char const* attest_write_vectors(char const* folder);
