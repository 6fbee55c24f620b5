# Generates the headers of forwarding_headers.txt in ATTEST_FORWARDING_DIR, which is on the include path of
# attest::problem and is installed with the other headers.
set(ATTEST_FORWARDING_DIR ${PROJECT_BINARY_DIR}/forwarding)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/forwarding_headers.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/forwarding_headers.txt lines REGEX "^[^#]")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ ]+) ([^ ]+)$" _ "${line}")
  set(old ${CMAKE_MATCH_1})
  set(new ${CMAKE_MATCH_2})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${new})
    message(FATAL_ERROR "cmake/forwarding_headers.txt: '${line}' names no header of this tree")
  endif()
  file(CONFIGURE OUTPUT ${ATTEST_FORWARDING_DIR}/${old}
       CONTENT "// Moved: include \"${new}\".\n#pragma once\n#include \"${new}\"\n")
endforeach()
