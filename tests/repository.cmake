# Tests of the repository itself: its sources, its set-up script, its installation.
add_test(NAME repository.hygiene COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/hygiene.cmake)
add_test(NAME repository.setup COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/setup_test.sh)
add_test(NAME repository.build_order COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/build_order_test.sh)

set_tests_properties(repository.hygiene repository.setup repository.build_order PROPERTIES LABELS unit TIMEOUT 900)

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
set_tests_properties(repository.readme PROPERTIES LABELS unit TIMEOUT 900)
