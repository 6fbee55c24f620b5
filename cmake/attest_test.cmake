# What takes longest starts first: in a new build CTest knows no times yet.
set(ATTEST_LONGEST python.tests python.tests.slow coq.formula coq cli.slow find_domain.slow
  cli_reports.slow cli_audit.slow report.smallest_calls kernel_promises.property cli_reports.unit
  cli_audit.unit cli_recorded.unit planted_some planted_causes.slow cli.unit cases.unit)

# attest_add_test(name LABELS label… COMMAND word… [NEEDS need…] [TARGETS target…] [TIMEOUT seconds])
# One CTest test, on every machine: where one of its NEEDS (test_needs.cmake) is missing, it is skipped and says so.
# `./attest test` builds what the chosen tests run: the targets that COMMAND names and those in TARGETS.
# The limit of time ends a test that hangs; it is wide, since sanitizers and busy machines are slow. No test asserts
# wall-clock time. A script that finds out by itself that it must be skipped ends with 77 and gets SKIP_RETURN_CODE; a
# program of Catch2 must not have it, since its exit status is the number of failed assertions.
function(attest_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "LABELS;COMMAND;NEEDS;TARGETS")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  set(without "")
  foreach(need IN LISTS ARG_NEEDS)
    if(NOT DEFINED ATTEST_HAS_${need})
      message(FATAL_ERROR "attest_add_test(${name}): cmake/test_needs.cmake knows no need '${need}'")
    elseif(NOT ATTEST_HAS_${need} AND NOT without)
      set(without "${ATTEST_WITHOUT_${need}}")
    endif()
  endforeach()
  set(targets "")
  if(without)
    add_test(NAME ${name} COMMAND sh -c "echo \"skipped: $1\"; exit 77" skipped "${without}")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  else()
    set(command "")
    foreach(word IN LISTS ARG_COMMAND)
      if(word STREQUAL "")
        set(word "$<0:>")  # an empty argument, which the expansion of a list would drop
      endif()
      list(APPEND command "${word}")
    endforeach()
    add_test(NAME ${name} COMMAND ${command})
    set(targets ${ARG_TARGETS})
    list(GET ARG_COMMAND 0 program)
    if(TARGET ${program})
      list(APPEND targets ${program})
    endif()
    string(REGEX MATCHALL "TARGET_FILE:[A-Za-z0-9_]+" files "${ARG_COMMAND}")
    list(TRANSFORM files REPLACE "^TARGET_FILE:" "")
    list(APPEND targets ${files})
    list(REMOVE_DUPLICATES targets)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if(name IN_LIST ATTEST_LONGEST)
    list(FIND ATTEST_LONGEST ${name} at)
    math(EXPR cost "1000 - ${at}")
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
  list(JOIN targets " " targets)
  set_property(GLOBAL APPEND_STRING PROPERTY ATTEST_REGISTERED "${name}\t${targets}\t${without}\n")
endfunction()

# attest_write_registered(): the tests of this build, one a line: name, targets, why it is skipped; between them tabs.
function(attest_write_registered)
  get_property(registered GLOBAL PROPERTY ATTEST_REGISTERED)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/registered.txt CONTENT "${registered}" @ONLY)
endfunction()

# attest_test(subject LABELS unit property … [COMPUTES] [SLOW] [ALONE] [CASES n] [NEEDS need…] [LIBRARIES …]
#             [DEFINITIONS …] [AFTER target…]).
# Compiles <subject>_test.cpp of the calling folder and adds one CTest test for each label: "subject.label" runs the
# test cases tagged [label], once the targets AFTER are built. Where the folder sets ATTEST_TEST_PREFIX, it precedes the
# subject: fast_exp.unit. `differential` adds no test: it is a second CTest label of the subject's other tests; SLOW
# makes `slow` another, for what costs more than ten processor seconds, with its compilation, and concerns the inside of
# one library. (The test discovery of Catch2 2.13 does not support labels.)
# A property is tested with CASES generated problems, by default ATTEST_PROPERTY_CASES. The seed is fixed, so that a
# failure is reproducible and caused by the change under test. RC_PARAMS in the environment overrides this:
# RC_PARAMS="seed=7".
function(attest_test subject)
  cmake_parse_arguments(ARG "COMPUTES;SLOW;ALONE" "CASES" "LABELS;NEEDS;LIBRARIES;DEFINITIONS;AFTER" ${ARGN})
  set(source ${subject}_test)
  set(subject ${ATTEST_TEST_PREFIX}${subject})
  set(built ON)
  foreach(need IN LISTS ARG_NEEDS)
    if(NOT ATTEST_HAS_${need})
      set(built OFF)
    endif()
  endforeach()
  attest_test_program(program)
  if(built)
    target_sources(${program} PRIVATE ${source}.cpp)
    target_link_libraries(${program} PRIVATE ${ARG_LIBRARIES})
    target_compile_definitions(${program} PRIVATE ${ARG_DEFINITIONS})
    if(ARG_AFTER)
      add_dependencies(${program} ${ARG_AFTER})
    endif()
  endif()
  set(chosen "")
  if(NOT program STREQUAL "${subject}_test")
    set(chosen "[#${source}]")  # Catch2's tag for the name of a source
  endif()
  set(also "")
  if("differential" IN_LIST ARG_LABELS)
    list(REMOVE_ITEM ARG_LABELS differential)
    list(APPEND also differential)
  endif()
  if(ARG_SLOW)
    list(APPEND also slow)
  endif()
  foreach(label IN LISTS ARG_LABELS)
    attest_add_test(${subject}.${label} LABELS ${label} ${also} TIMEOUT 3600 NEEDS ${ARG_NEEDS}
      COMMAND ${program} "-#" "${chosen}[${label}]" -w NoTests)
    if(label MATCHES "^(property|slow|nightly)$")
      set(cases ${ATTEST_PROPERTY_CASES})
      if(DEFINED ARG_CASES)
        set(cases ${ARG_CASES})
      endif()
      if(ATTEST_SANITIZE AND cases GREATER 100)
        set(cases 100)
      endif()
      set_tests_properties(${subject}.${label} PROPERTIES
        ENVIRONMENT_MODIFICATION "RC_PARAMS=string_prepend:max_success=${cases} seed=1 ")
    endif()
  endforeach()
endfunction()

# attest_test_program(variable): the program of the calling attest_test, made where it is not there yet. It is the
# subject's own, <subject>_test, unless the folder sets ATTEST_TESTS_TOGETHER and sources are compiled together. Then
# <folder>_properties has the subjects with properties, and <folder>_tests the others. Each source has a namespace of
# its own for that.
function(attest_test_program variable)
  set(program ${subject}_test)
  set(together OFF)
  if(ATTEST_TESTS_TOGETHER AND ATTEST_UNITY AND NOT ATTEST_SANITIZE AND NOT ARG_COMPUTES AND NOT ARG_SLOW AND
     NOT ARG_ALONE AND NOT ARG_NEEDS)
    set(together ON)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
    set(program ${folder}_tests)
    if("property" IN_LIST ARG_LABELS)
      set(program ${folder}_properties)
    endif()
  endif()
  set(${variable} ${program} PARENT_SCOPE)
  if(TARGET ${program} OR NOT built)
    return()
  endif()
  add_executable(${program})
  # One folder for all of them, from which ../share/attest is the real data (audit/support/locate.hpp).
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
    UNITY_BUILD ${together} UNITY_BUILD_BATCH_SIZE 6)
  target_link_libraries(${program} PRIVATE attest_flags attest_catch rapidcheck)
  if(NOT ARG_COMPUTES)
    attest_with_test_headers(${program})
  endif()
endfunction()

# The precompiled headers of the folder (ATTEST_TEST_HEADERS: plain, oracle or audit), and their optimisation. Tests
# with the headers `audit` leave computing to libraries; the others also compute in headers.
function(attest_with_test_headers target)
  set(headers plain)
  if(ATTEST_TEST_HEADERS)
    set(headers ${ATTEST_TEST_HEADERS})
  endif()
  if(headers STREQUAL "audit")
    attest_not_optimised(${target})
    target_link_libraries(${target} PRIVATE ${ATTEST_FMT})
  else()
    attest_optimise_less(${target})
  endif()
  if(ATTEST_PCH)
    target_precompile_headers(${target} REUSE_FROM attest_test_${headers})
  endif()
endfunction()
