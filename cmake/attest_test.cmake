# attest_test(subject LABELS unit property … [COMPUTES] [CASES n] [LIBRARIES …])
# Builds <subject>_test.cpp of the calling folder into one program and adds one CTest test for each label:
# "subject.label" runs the test cases tagged [label]. Where the folder sets ATTEST_TEST_PREFIX, it precedes the subject:
# fast_exp.unit. `differential` adds no test: it is a second CTest label of the subject's other tests. (The test
# discovery of Catch2 2.13 does not support labels.)
# A property is tested with CASES generated problems, by default ATTEST_PROPERTY_CASES, with a fixed seed, so that a
# failure is reproducible and caused by the change under test. RC_PARAMS in the environment overrides this:
# RC_PARAMS="seed=7".
function(attest_test subject)
  cmake_parse_arguments(ARG "COMPUTES" "CASES" "LABELS;LIBRARIES;DEFINITIONS" ${ARGN})
  set(source ${subject}_test.cpp)
  set(subject ${ATTEST_TEST_PREFIX}${subject})
  add_executable(${subject}_test ${source})
  # One folder for all of them, from which ../share/attest is the real data (audit/support/locate.hpp).
  set_target_properties(${subject}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${subject}_test PRIVATE attest_flags attest_catch rapidcheck ${ARG_LIBRARIES})
  target_compile_definitions(${subject}_test PRIVATE ${ARG_DEFINITIONS})
  if(NOT ARG_COMPUTES)
    attest_optimise_less(${subject}_test)
    attest_precompiled(${subject}_test)
  endif()
  set(also "")
  if("differential" IN_LIST ARG_LABELS)
    list(REMOVE_ITEM ARG_LABELS differential)
    set(also ";differential")
  endif()
  foreach(label IN LISTS ARG_LABELS)
    add_test(NAME ${subject}.${label} COMMAND ${subject}_test "[${label}]" -w NoTests)
    # The limit ends a test that hangs; it is wide, since sanitizers and busy machines are slow. Tests assert no
    # wall-clock time.
    set_tests_properties(${subject}.${label} PROPERTIES LABELS "${label}${also}" TIMEOUT 3600)
    if(label STREQUAL property)
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

function(attest_precompiled target)
  if(ATTEST_PCH)
    set(headers plain)
    if(ATTEST_TEST_HEADERS)
      set(headers ${ATTEST_TEST_HEADERS})
    endif()
    target_precompile_headers(${target} REUSE_FROM attest_test_${headers})
  endif()
endfunction()
