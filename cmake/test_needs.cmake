# The needs of single tests in addition to the sections [build] and [test] of packages/debian.txt. Every test is
# registered on every machine. If a need is missing, the test is skipped with a sentence that names it and the package
# that provides it.
#   ATTEST_HAS_<NEED>   whether it is there          ATTEST_WITHOUT_<NEED>   the sentence
set(ATTEST_OPTIONAL found CACHE STRING
  "What only some tests need counts as installed if: found; none, as on a fresh machine; all, to configure alone")
set_property(CACHE ATTEST_OPTIONAL PROPERTY STRINGS found none all)

# attest_need(need sentence variable…): the need is there if each of the variables is true.
macro(attest_need need sentence)
  set(ATTEST_HAS_${need} ON)
  if(ATTEST_OPTIONAL STREQUAL none)
    set(ATTEST_HAS_${need} OFF)
  elseif(ATTEST_OPTIONAL STREQUAL found)
    foreach(variable IN ITEMS ${ARGN})
      if(NOT ${variable})
        set(ATTEST_HAS_${need} OFF)
      endif()
    endforeach()
  endif()
  set(ATTEST_WITHOUT_${need} "${sentence}")
endmacro()

# attest_python_with(variable module…): the first Python that has the modules, of two: the Python of the tests, and
# the system's, for which packages are installed. If neither has them, the former, and ${variable}_FOUND is OFF. None of
# the modules' code runs.
function(attest_python_with variable)
  list(JOIN ARGN " " modules)
  set(${variable} ${ATTEST_PYTHON} PARENT_SCOPE)
  set(${variable}_FOUND OFF PARENT_SCOPE)
  foreach(python IN ITEMS ${ATTEST_PYTHON} /usr/bin/python3)
    execute_process(COMMAND ${python} -c
      "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1].split())))" "${modules}"
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${variable} ${python} PARENT_SCOPE)
      set(${variable}_FOUND ON PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

find_path(ATTEST_MPFR_HEADERS mpfr.h)
find_library(ATTEST_MPFR mpfr)
find_library(ATTEST_GMP gmp)
find_path(ATTEST_MPFI_HEADERS mpfi.h)
find_library(ATTEST_MPFI mpfi)
find_path(ATTEST_ARB_HEADERS arb.h PATH_SUFFIXES flint)
find_library(ATTEST_ARB NAMES flint-arb arb)
find_library(ATTEST_FLINT flint)
find_program(ATTEST_GAPPA NAMES gappa)
find_program(ATTEST_COQC NAMES coqc)
find_program(ATTEST_OCAMLFIND NAMES ocamlfind)  # what Coq extracts is compiled by it
find_path(ATTEST_FLOCQ Flocq/Version.vo PATHS /usr/lib/ocaml/coq/user-contrib /usr/lib/coq/user-contrib)
find_program(ATTEST_CLANG_FORMAT NAMES clang-format-19)
find_program(ATTEST_CHROMIUM NAMES chromium chromium-browser)
find_program(ATTEST_DEBOOTSTRAP NAMES debootstrap PATHS /usr/sbin)
attest_need(MPFR "no MPFR: ./attest setup ci" ATTEST_MPFR_HEADERS ATTEST_MPFR ATTEST_GMP)
attest_need(MPFI "no MPFR or no MPFI: ./attest setup ci" ATTEST_HAS_MPFR ATTEST_MPFI_HEADERS ATTEST_MPFI)
attest_need(ARB "no MPFR or no Arb: ./attest setup ci" ATTEST_HAS_MPFR ATTEST_ARB_HEADERS ATTEST_ARB ATTEST_FLINT)
attest_need(GAPPA "no Gappa: ./attest setup ci" ATTEST_GAPPA)
attest_need(COQ "no Coq or no Flocq: ./attest setup coq" ATTEST_COQC ATTEST_FLOCQ ATTEST_OCAMLFIND)
attest_need(CLANG_FORMAT "no clang-format 19: ./attest setup ci" ATTEST_CLANG_FORMAT)
attest_need(CHROMIUM "no Chromium: ./attest setup browser" ATTEST_CHROMIUM)
attest_need(DEBOOTSTRAP "no debootstrap: ./attest setup nightly" ATTEST_DEBOOTSTRAP)

if(ATTEST_TESTS)
  attest_python_with(ATTEST_PYTEST_PYTHON numpy pytest)
  attest_python_with(ATTEST_NUMPY_PYTHON numpy)
  attest_python_with(ATTEST_JSONSCHEMA_PYTHON jsonschema)
  attest_python_with(ATTEST_YAML_PYTHON yaml)
  attest_need(PYTEST "no NumPy or no pytest in python3: ./attest setup python" ATTEST_PYTEST_PYTHON_FOUND)
  attest_need(NUMPY "no NumPy in python3: ./attest setup ci" ATTEST_NUMPY_PYTHON_FOUND)
  attest_need(JSONSCHEMA "no jsonschema in python3: ./attest setup ci" ATTEST_JSONSCHEMA_PYTHON_FOUND)
  attest_need(YAML "no PyYAML in python3: ./attest setup ci" ATTEST_YAML_PYTHON_FOUND)
endif()

# What no package brings.
set(ATTEST_HAS_NO_SANITIZER ON)
set(ATTEST_WITHOUT_NO_SANITIZER "this build has sanitizers, under which the test would say nothing or something else")
if(ATTEST_SANITIZE)
  set(ATTEST_HAS_NO_SANITIZER OFF)
endif()
set(ATTEST_HAS_X86_64 ON)
set(ATTEST_WITHOUT_X86_64 "the test reads x86-64 code, and this build makes none")
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(ATTEST_HAS_X86_64 OFF)
endif()
