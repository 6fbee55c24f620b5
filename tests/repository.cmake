# Tests of the repository itself: its sources, its set-up script, its installation.
add_test(NAME repository.hygiene COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/hygiene.cmake)
add_test(NAME repository.setup COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/setup_test.sh)

set_tests_properties(repository.hygiene repository.setup PROPERTIES LABELS unit TIMEOUT 60)

# What a proof names of fast/ must run. The test plants dead code in a copy of the sources and must find it.
find_program(ATTEST_PYTHON NAMES python3)
if(ATTEST_PYTHON)
  add_test(NAME repository.proofs_name_live_code
    COMMAND ${ATTEST_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/live_code.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(repository.proofs_name_live_code PROPERTIES LABELS unit TIMEOUT 60)
endif()

# Nobody installs a build with sanitizers, and what links to it would need their run-time library.
if(NOT ATTEST_SANITIZE)
  add_test(NAME install.consumer COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DCONFIG=${CMAKE_BUILD_TYPE}
    -DC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/install_test.cmake)
  add_test(NAME install.gate COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DCONFIG=${CMAKE_BUILD_TYPE}
    -DC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/gate_test.cmake)
  set_tests_properties(install.consumer install.gate PROPERTIES LABELS unit TIMEOUT 900)
endif()

add_test(NAME repository.readme COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/readme_test.sh ${PROJECT_SOURCE_DIR}
  $<TARGET_FILE:attest> ${CMAKE_C_COMPILER})
set_tests_properties(repository.readme PROPERTIES LABELS unit TIMEOUT 120)
