# attest_add_audit(target [NAME name] [SYMBOL symbol] [CONTRACT preset-or-file] [SEED n] [JUNIT folder] [TIMEOUT seconds]
#                  [ARGUMENTS argument…])
#
# Adds the CTest test NAME (default audit.<target>), with the label `attest`. It runs `attest audit` on the shared
# library or module <target>, which exports the function SYMBOL (default attest_attention) with the interface of
# attest/kernel.h. The test passes if the verdict is certified, and fails if it is refuted or undecided. CONTRACT is
# what the kernel claims (default f32): a preset, or a FILE.json, relative to the calling CMakeLists.txt. Without SEED
# every run generates other inputs. JUNIT is a folder, into which the test writes NAME.xml. ARGUMENTS are passed on to
# `attest audit` (--quick, --waive empty-row, --only masks, …).
# Findings are saved in attest-findings/ of the current binary directory.
function(attest_add_audit target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;SYMBOL;CONTRACT;SEED;JUNIT;TIMEOUT" "ARGUMENTS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attest_add_audit(${target}): what is '${ARG_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "attest_add_audit: there is no target '${target}'")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    message(FATAL_ERROR "attest_add_audit: ${target} is a ${type}; the audit loads a SHARED or MODULE library")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME audit.${target})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set(kernel $<TARGET_FILE:${target}>)
  if(ARG_SYMBOL)
    string(APPEND kernel ":${ARG_SYMBOL}")
  endif()
  set(options --kernel ${kernel})
  if(ARG_CONTRACT)
    if(ARG_CONTRACT MATCHES "\\.json$")
      cmake_path(ABSOLUTE_PATH ARG_CONTRACT BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    list(APPEND options --contract ${ARG_CONTRACT})
  endif()
  if(DEFINED ARG_SEED)
    list(APPEND options --seed ${ARG_SEED})
  endif()
  if(ARG_JUNIT)
    cmake_path(ABSOLUTE_PATH ARG_JUNIT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    file(MAKE_DIRECTORY ${ARG_JUNIT})
    list(APPEND options --junit ${ARG_JUNIT}/${ARG_NAME}.xml)
  endif()
  get_target_property(imported attest::attest IMPORTED)
  if(NOT imported)  # attest is a part of this build, outside of its `all`
    set_target_properties(attest PROPERTIES EXCLUDE_FROM_ALL OFF)
  endif()
  add_test(NAME ${ARG_NAME} COMMAND attest::attest audit ${options} ${ARG_ARGUMENTS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS attest TIMEOUT ${ARG_TIMEOUT})
endfunction()
