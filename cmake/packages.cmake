# Third-party packages. packages/debian.txt is the same list for apt.
# attest_package(target package …): find_package(package … REQUIRED), unless a project that attest is a part of has the
# target.
macro(attest_package target)
  if(NOT TARGET ${target})
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

find_package(Threads REQUIRED)
attest_package(Boost::headers Boost 1.81)  # older cpp_int shifts are not constexpr
attest_package(fmt::fmt fmt)
set(ATTEST_FMT fmt::fmt)
if(ATTEST_SELF_CONTAINED)
  set(ATTEST_FMT fmt::fmt-header-only)
  include(fuzz/oss-fuzz/shims/targets.cmake)
else()
  attest_package(TBB::tbb TBB)
  attest_package(hwy::hwy hwy)
  if(NOT TARGET libseccomp::libseccomp)  # it comes without CMake files
    find_library(ATTEST_SECCOMP NAMES seccomp REQUIRED)
    find_path(ATTEST_SECCOMP_HEADERS NAMES seccomp.h REQUIRED)
    add_library(libseccomp::libseccomp UNKNOWN IMPORTED GLOBAL)
    set_target_properties(libseccomp::libseccomp PROPERTIES IMPORTED_LOCATION ${ATTEST_SECCOMP}
      INTERFACE_INCLUDE_DIRECTORIES ${ATTEST_SECCOMP_HEADERS})
  endif()
endif()
attest_package(dlpack::dlpack dlpack)
attest_package(nlohmann_json::nlohmann_json nlohmann_json)
attest_package(CLI11::CLI11 CLI11)
find_path(ATTEST_TOML_HEADERS NAMES toml++/toml.h REQUIRED)  # without its package, which links a library
if(ATTEST_TESTS AND NOT ATTEST_SELF_CONTAINED)
  attest_package(Catch2::Catch2 Catch2)
  attest_package(rapidcheck rapidcheck)
endif()
if(ATTEST_TESTS)
  find_program(ATTEST_PYTHON NAMES python3 REQUIRED)
endif()
