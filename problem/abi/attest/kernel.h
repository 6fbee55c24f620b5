/* The header is include/attest/kernel.h; builds with -Iproblem/abi find it from here. */
#pragma once
#include "../../../include/attest/kernel.h"
