# The requirements for compiling a wheel, checked before anything else, so that a user of `pip install .` reads one
# sentence instead of the words of find_package. Included before project(), when no compiler is known yet.
set(missing "")
find_program(ATTEST_ANY_CXX NAMES c++ g++ clang++)
if(NOT ATTEST_ANY_CXX AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  list(APPEND missing "a C++20 compiler (g++)")
endif()

# attest_needs_header(path package): a header that is neither in the system's folders nor below CMAKE_PREFIX_PATH.
function(attest_needs_header path package)
  string(MAKE_C_IDENTIFIER "ATTEST_HAS_${path}" known)
  set(elsewhere $ENV{CMAKE_PREFIX_PATH} $ENV{Boost_ROOT})
  string(REPLACE ":" ";" elsewhere "${elsewhere}")
  find_path(${known} NAMES ${path} PATHS /usr/include /usr/local/include ${elsewhere} PATH_SUFFIXES include)
  if(NOT ${known})
    set(missing ${missing} ${package} PARENT_SCOPE)
  endif()
endfunction()
attest_needs_header(boost/multiprecision/cpp_int.hpp libboost1.81-dev)
attest_needs_header(fmt/format.h libfmt-dev)
attest_needs_header(oneapi/tbb/parallel_for.h libtbb-dev)
attest_needs_header(hwy/highway.h libhwy-dev)
attest_needs_header(CLI/CLI.hpp libcli11-dev)
attest_needs_header(toml++/toml.h libtomlplusplus-dev)
attest_needs_header(nlohmann/json.hpp nlohmann-json3-dev)
attest_needs_header(seccomp.h libseccomp-dev)
attest_needs_header(dlpack/dlpack.h libdlpack-dev)

if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR
          "attest is compiled where it is installed from sources, and this is missing: ${missing}. On Debian 12 "
    "the command `./attest setup build` in the clone installs it; elsewhere packages/debian.txt, section [build], names what "
    "is needed. A wheel that was built once needs none of it.")
endif()
