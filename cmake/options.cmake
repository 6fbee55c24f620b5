# Build options, and the one target that carries the compiler flags of attest's own code.
option(ATTEST_WERROR "Warnings are errors" OFF)
option(ATTEST_FUZZ "Build the libFuzzer campaigns (needs clang); the replay programs are always built" OFF)
set(ATTEST_FUZZING_ENGINE "" CACHE STRING "What to link a fuzz target with where an engine says so (LIB_FUZZING_ENGINE); then its CXXFLAGS instrument")
option(ATTEST_SELF_CONTAINED "Programs need no library but the C and C++ ones at run time; one thread. For fuzz targets" OFF)
option(ATTEST_BENCH "Build the benchmarks" OFF)
option(ATTEST_UNITY "The sources of one room are one translation unit: the whole is compiled in half the time, a single change takes longer" ON)
set(ATTEST_PROPERTY_CASES 500 CACHE STRING "Problems that RapidCheck makes for each property")
set(ATTEST_SANITIZE "" CACHE STRING "Sanitizers for everything that is built, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
# -O3 is for the kernel and the machine tier, which ask for it: elsewhere it costs a fifth of the build and brings nothing.
foreach(language IN ITEMS C CXX)
  string(REPLACE -O3 -O2 CMAKE_${language}_FLAGS_RELEASE "${CMAKE_${language}_FLAGS_RELEASE}")
endforeach()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(attest_flags INTERFACE)
target_compile_features(attest_flags INTERFACE cxx_std_20)
# FMAs are written, not guessed: the declared rounding models mean nothing otherwise.
# Sources that are one unit see each other's names: whether one shadows another, the other builds say.
target_compile_options(attest_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> $<$<BOOL:${ATTEST_WERROR}>:-Werror> -ffp-contract=off)
# g++ 12 warns of overlapping memcpy in any `"text" + std::string` (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(attest_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(ATTEST_SANITIZE)
  add_compile_options(-fsanitize=${ATTEST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ATTEST_SANITIZE})
endif()
# In a campaign libFuzzer steers by the coverage of everything.
if(ATTEST_FUZZ AND NOT ATTEST_FUZZING_ENGINE)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# attest_one_unit(target): its sources are compiled as one, where ATTEST_UNITY says so.
function(attest_one_unit target)
  if(ATTEST_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# attest_optimise_less(target): for code that nobody waits for.
function(attest_optimise_less target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
endfunction()
