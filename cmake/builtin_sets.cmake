# The instruction sets that the built-in kernel can be restricted to on this processor, as words of --kernel builtin:SET
# (audit/builtin/builtin_sets.cpp), and the libraries that are so restricted.
set(ATTEST_BUILTIN_SETS avx512 avx2 scalar)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ATTEST_BUILTIN_SETS neon scalar)
endif()
list(TRANSFORM ATTEST_BUILTIN_SETS PREPEND attest_kernel_ OUTPUT_VARIABLE ATTEST_RESTRICTED_KERNELS)
