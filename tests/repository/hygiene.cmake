# Rules for the sources themselves: which folder may know which, header guards.
# cmake -DROOT=... -P hygiene.cmake
# folder: the folders that it must not include
set(walls
  "problem:reference|fast|proofs|audit|oracles|tests|fuzz|bench|examples"
  "reference:fast|proofs|audit|oracles|tests|fuzz|bench|examples"
  "fast:reference|proofs|audit|oracles|tests|fuzz|bench|examples")
set(folders problem reference fast proofs audit oracles tests fuzz bench examples)

set(faults 0)
macro(fault)
  message(SEND_ERROR ${ARGV})
  math(EXPR faults "${faults} + 1")
endmacro()

foreach(wall IN LISTS walls)
  string(REGEX MATCH "^(.*):(.*)$" _ ${wall})
  set(folder ${CMAKE_MATCH_1})
  set(strangers ${CMAKE_MATCH_2})
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  foreach(source IN LISTS sources)
    file(STRINGS ${ROOT}/${source} found REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]((\\.\\.?|attest)/)*(${strangers})/")
    if(found)
      fault("${source} includes what ${folder}/ must not know: ${found}")
    endif()
  endforeach()
endforeach()

set(checked 0)
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h)
  foreach(source IN LISTS sources)
    file(READ ${ROOT}/${source} text)
    # Code that is compiled once for every SIMD target has Highway's guard; code whose namespace is a macro needs none.
    if(source MATCHES "-inl\\.hpp$")
      if(NOT text
         MATCHES "\n#pragma once\n|\n#if defined\\(([A-Z_]+)\\) == defined\\(HWY_TARGET_TOGGLE\\)\n|\nnamespace ATTEST_[A-Z_]+_NAMESPACE {\n")
        fault("${source} has no include guard, neither the ordinary one nor that for SIMD targets")
      endif()
    elseif(source MATCHES "\\.(hpp|h)$" AND NOT text MATCHES "(^|\n)#pragma once\n|\n#ifndef [A-Z_]+_H\n#define ")
      fault("${source} has no #pragma once and no include guard")
    endif()
    math(EXPR checked "${checked} + 1")
  endforeach()
endforeach()

if(checked EQUAL 0)
  fault("no sources under ${ROOT}")
endif()
message(STATUS "${checked} sources checked, ${faults} faults")
