# Build options, and the target attest_flags with the compiler flags of attest's own code.
# Options that only developers of attest need are OFF if attest is a part of another project's build.
option(ATTEST_TESTS "attest's own tests and proofs, unless BUILD_TESTING is OFF" ${PROJECT_IS_TOP_LEVEL})
option(ATTEST_INSTALL "`cmake --install` installs attest" ${PROJECT_IS_TOP_LEVEL})
option(ATTEST_WERROR "Warnings are errors" OFF)
option(ATTEST_FUZZ "Build the libFuzzer campaigns (needs clang); the replay programs are always built" OFF)
set(ATTEST_FUZZING_ENGINE "" CACHE
    STRING "The engine to link fuzz targets with (LIB_FUZZING_ENGINE); its CXXFLAGS then instrument them")
option(ATTEST_SELF_CONTAINED
       "Programs need only the C and C++ libraries at run time, and use one thread. For fuzz targets" OFF)
option(ATTEST_BENCH "Build the benchmarks" OFF)
option(ATTEST_UNITY
       "Compile a room as one translation unit: halves the time of a full build, not of one after a change" ON)
option(ATTEST_PCH "The headers that many tests or proofs include are compiled once" ON)
set(ATTEST_PROPERTY_CASES 500 CACHE STRING "Problems that RapidCheck generates for each property")
set(ATTEST_SANITIZE "" CACHE STRING "Sanitizers for everything that is built, e.g. address,undefined")

option(ATTEST_WHEEL "What the Python wheel holds, and nothing else. pyproject.toml sets it" OFF)

if(ATTEST_WHEEL)
  set(ATTEST_TESTS OFF)
  set(ATTEST_INSTALL OFF)
endif()
if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
  set(ATTEST_TESTS OFF)
endif()
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
elseif(NOT ATTEST_INSTALL AND NOT ATTEST_TESTS)  # what is installed or tested has to be built by `all`
  set_directory_properties(PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
# The kernel and the machine tier set -O3 themselves; elsewhere it costs a fifth of the build time without making it
# faster.
foreach(language IN ITEMS C CXX)
  string(REPLACE -O3 -O2 CMAKE_${language}_FLAGS_RELEASE "${CMAKE_${language}_FLAGS_RELEASE}")
endforeach()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(attest_flags INTERFACE)
target_compile_features(attest_flags INTERFACE cxx_std_20)
# -ffp-contract=off: the compiler must not form FMAs, since the declared rounding models count every operation.
# -Wshadow is off in unity builds, where sources see each other's names; the other builds check it.
target_compile_options(attest_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> $<$<BOOL:${ATTEST_WERROR}>:-Werror> -ffp-contract=off)
# g++ 12 warns falsely of an overlapping memcpy in `"text" + std::string` (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(attest_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# g++ collects its garbage at 512 MiB instead of 128: a fifteenth of its time, for memory that a unit of templates needs
# anyway.
target_compile_options(attest_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
if(ATTEST_SANITIZE)
  # A report names functions and lines; what else a debugger needs costs a seventh of the build.
  add_compile_options(-fsanitize=${ATTEST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:Clang>:-gline-tables-only>)
  add_link_options(-fsanitize=${ATTEST_SANITIZE})
  find_program(ATTEST_LLD NAMES ld.lld-19)
  if(ATTEST_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)
  endif()
endif()
# In a fuzzing campaign all code is instrumented for libFuzzer's coverage.
if(ATTEST_FUZZ AND NOT ATTEST_FUZZING_ENGINE)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# attest_one_unit(target): where ATTEST_UNITY is ON, the sources of the target are compiled as one translation unit.
function(attest_one_unit target)
  if(ATTEST_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# What is compiled for few runs. With the checks of undefined behaviour clang compiles -O0 in two fifths of the time.
if(ATTEST_SANITIZE MATCHES "undefined")
  set(ATTEST_FEW_RUNS $<$<NOT:$<CONFIG:Debug>>:-O0>)
else()
  set(ATTEST_FEW_RUNS $<$<NOT:$<CONFIG:Debug>>:-O1>)
endif()

# attest_optimise_less(target): for code whose speed does not matter. At -O1 g++ 12 warns of overflow in correct uses of
# std::string.
function(attest_optimise_less target)
  target_compile_options(${target} PRIVATE ${ATTEST_FEW_RUNS}
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")
endfunction()

# attest_rarely_run(source…): for code that computes, but is rarely asked to. -O1 takes two thirds of the time of -O2.
function(attest_rarely_run)
  set_source_files_properties(${ARGV} PROPERTIES COMPILE_OPTIONS ${ATTEST_FEW_RUNS})
endfunction()

# attest_not_optimised(target): -O0, for code that calls optimised libraries and computes nothing. -O1 takes longer to
# compile it.
function(attest_not_optimised target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
endfunction()
