# attest-NAME.pc for programs that are built without CMake. They are found where the installation lies now. Boost and
# DLPack, which have no such files, are headers on the compiler's own path; the libraries of C++ want -std=c++20.
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up ${up})
file(RELATIVE_PATH includes ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH libraries ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})

# attest_pkgconfig(name DESCRIPTION text REQUIRES packages CFLAGS flags LIBS libraries…)
function(attest_pkgconfig name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "DESCRIPTION;REQUIRES;CFLAGS" "LIBS")
  set(description ${ARG_DESCRIPTION})
  set(requires ${ARG_REQUIRES})
  set(cflags ${ARG_CFLAGS})
  set(libs "")
  if(ARG_LIBS)
    list(TRANSFORM ARG_LIBS PREPEND -l)
    list(JOIN ARG_LIBS " " libs)
    string(PREPEND libs "-L\${libdir} ")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attest.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/attest-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/attest-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

attest_pkgconfig(kernel-abi DESCRIPTION "The C interface of an attention kernel under audit: attest/kernel.h")
attest_pkgconfig(kernel DESCRIPTION "The attention kernel of attest, behind attest/kernel.h and attest/builtin.h"
  REQUIRES attest-kernel-abi LIBS attest_kernel)
attest_pkgconfig(fast DESCRIPTION "The attention kernel of attest, in C++"
  REQUIRES "attest-kernel-abi, tbb, libhwy" CFLAGS " -I\${includedir}/attest" LIBS attest_fast)
# Why without contraction: reference/CMakeLists.txt. Long constant evaluation needs a higher limit of the compiler too:
# -fconstexpr-ops-limit=4000000000 for g++, -fconstexpr-steps=1000000000 for clang.
attest_pkgconfig(reference DESCRIPTION "Certified enclosures of attention, and its error bound: headers"
  REQUIRES attest-kernel-abi CFLAGS " -I\${includedir}/attest -ffp-contract=off")
attest_pkgconfig(machine DESCRIPTION "Certified enclosures of attention in double arithmetic"
  REQUIRES "attest-reference, libhwy" LIBS attest_machine attest_compiled)
