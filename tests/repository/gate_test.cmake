# docs/gate.md, done by another project: attest is installed, and the page's blocks are taken as they are. A project
# with an honest kernel passes its gate and one with a broken kernel does not, in CTest, in the CI job's commands, and
# from C. The program that the blocks run asks few checks and draws nothing (an audit by itself takes its ten seconds,
# or its minute). As it names a case, it searches for the condition of no finding.
# cmake -DBUILD=... -DCONFIG=... -DC=... -DCXX=... -P gate_test.cmake
set(root ${CMAKE_CURRENT_LIST_DIR}/../..)
set(work ${BUILD}/gate_test)
set(prefix "${work}/installed")
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

# run(STATUS OUT command…): stops unless the exit status is STATUS; OUT gets what it said.
function(run expected out)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} COMMAND_ECHO STDOUT RESULT_VARIABLE status
                  OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status STREQUAL expected)
    message(FATAL_ERROR "exit status ${status}, expected ${expected}\n${said}")
  endif()
  set(${out} "${said}" PARENT_SCOPE)
endfunction()
function(expect text part)
  string(FIND "${text}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "'${part}' is not in\n${text}")
  endif()
endfunction()

# The n-th block of a language in docs/gate.md, counted from 0, into a file.
function(page language n path)
  execute_process(COMMAND awk -v fence=${language} -v wanted=${n} -v tick=96
    "BEGIN { f = sprintf(\"%c%c%c\", tick, tick, tick) } index($0, f) == 1 { if (inside) { inside = 0 } else { inside = ($0 == f fence && seen++ == wanted) }; next } inside"
    ${root}/docs/gate.md OUTPUT_FILE ${path} COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${path} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "docs/gate.md has no ${language} block number ${n}")
  endif()
endfunction()

run(0 said ${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${prefix})
file(RENAME ${prefix}/bin/attest ${prefix}/bin/attest-whole)
file(WRITE ${prefix}/bin/attest [=[
#!/bin/sh
if [ "$1" = audit ]; then
  shift
  case " $* " in *" --quick "*) ;; *) set -- --quick "$@" ;; esac
  set -- audit --only accuracy,bands,empty-rows/every-row,masks "$@"
fi
exec "$0-whole" "$@"
]=])
file(CHMOD ${prefix}/bin/attest PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE ${work}/read.py "import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(len(root.findall('.//testcase')) > 1, len(root.findall('.//failure')) > 0)
")
foreach(kernel IN ITEMS honest broken)
  set(project ${work}/${kernel})
  file(MAKE_DIRECTORY ${project})
  page(cmake 0 ${project}/CMakeLists.txt)
  page(json 0 ${project}/mykernel.json)
  page(sh 0 ${project}/ci.sh)
  page(sh 1 ${project}/shards.sh)
  page(c 0 ${project}/gate.c)
  file(COPY ${root}/tests/isolation_kernels/naive.h DESTINATION ${project})
  if(kernel STREQUAL honest)
    file(WRITE ${project}/mykernel.c "#define NAIVE_EMPTY_ROW NAN\n#include \"naive.h\"\n")
    set(status 0)
  else()
    file(WRITE ${project}/mykernel.c
         "#define NAIVE_EMPTY_ROW NAN\n#define NAIVE_VISIBLE(c, b, h, i, j) naive_in_band(c, i, j)\n#include \"naive.h\"\n")
    set(status 1)
  endif()
  # The CI job, with the installation where such a job would have it.
  set(in ${CMAKE_COMMAND} -E env CMAKE_PREFIX_PATH=${prefix} CC=${C} CXX=${CXX} "PATH=${prefix}/bin:$ENV{PATH}")
  execute_process(COMMAND ${in} sh -e ci.sh WORKING_DIRECTORY ${project} RESULT_VARIABLE found OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  if((status EQUAL 0 AND NOT found EQUAL 0) OR (status EQUAL 1 AND found EQUAL 0))
    message(FATAL_ERROR "the ${kernel} kernel's job: status ${found}\n${said}")
  endif()
  if(kernel STREQUAL broken)
    expect("${said}" "REFUTED")
    file(GLOB shrunk ${project}/build/attest-findings/audit.mykernel/*.safetensors)
    if(NOT shrunk)
      message(FATAL_ERROR "no shrunk input was saved")
    endif()
  endif()
  run(0 listed ctest --test-dir ${project}/build -N -L attest)
  expect("${listed}" "audit.mykernel")
  run(0 read python3 ${work}/read.py ${project}/build/reports/audit.mykernel.xml)
  if(status EQUAL 0)
    expect("${read}" "True False")
  else()
    expect("${read}" "True True")
  endif()
  # Shards of the same audit.
  execute_process(COMMAND ${in} sh -e shards.sh WORKING_DIRECTORY ${project} RESULT_VARIABLE found OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  if(NOT found EQUAL status)
    message(FATAL_ERROR "the ${kernel} kernel's shards: status ${found}, expected ${status}\n${said}")
  endif()
  if(NOT EXISTS ${project}/build/reports/merged.xml)
    message(FATAL_ERROR "no merged.xml")
  endif()
endforeach()
# From C: without the contract file the NaN rows are findings. And a name that a shell would read as commands is a name.
run(0 said ${C} -std=c99 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L ${work}/honest/gate.c -o ${work}/honest/gate)
file(WRITE ${work}/hostile.sh [=[
name="x'; touch pwned; echo 'so"
cp honest/build/libmykernel.so "./$name"
! honest/gate "$1" "./$name" >said || exit 1
grep -qx "wrong answers" said && [ ! -e pwned ]
]=])
run(0 said sh ${work}/hostile.sh ${prefix}/bin/attest)
run(0 said ${work}/honest/gate ${prefix}/bin/attest builtin)
expect("${said}" "ship it")
run(0 said ${work}/honest/gate ${prefix}/bin/attest builtin:scalar)
run(2 said ${work}/honest/gate ${prefix}/bin/attest ./absent.so)
expect("${said}" "could not be asked")

# A kernel with the address sanitizer, which writes behind the memory that it has.
find_program(GCC gcc)
find_program(PKG_CONFIG pkg-config)
set(asan "")
if(GCC AND PKG_CONFIG)
  execute_process(COMMAND ${GCC} -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(IS_ABSOLUTE "${asan}")
  file(MAKE_DIRECTORY ${work}/asan)
  page(sh 2 ${work}/asan/asan.sh)
  file(COPY ${root}/tests/isolation_kernels/naive.h DESTINATION ${work}/asan)
  file(WRITE ${work}/asan/mykernel.c
       "#define NAIVE_BEFORE(c) { volatile char *p = malloc(8); p[8] = 1; free((char *)p); (void)(c); }\n#include \"naive.h\"\n")
  file(GLOB_RECURSE packages ${prefix}/attest-kernel-abi.pc)
  cmake_path(GET packages PARENT_PATH packages)
  run(1 said ${CMAKE_COMMAND} -E chdir ${work}/asan ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${packages}
    "PATH=${prefix}/bin:$ENV{PATH}" sh asan.sh)
  expect("${said}" "heap-buffer-overflow")
  expect("${said}" "[crash]")
endif()

# A file that is no shared library is refused when the project is configured.
file(MAKE_DIRECTORY ${work}/static)
file(WRITE ${work}/static/mykernel.c "int nothing;\n")
file(WRITE ${work}/static/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C CXX)\nfind_package(attest REQUIRED)\nadd_library(mykernel STATIC mykernel.c)\nattest_add_audit(mykernel)\n")
run(1 said ${CMAKE_COMMAND} -G Ninja -S ${work}/static -B ${work}/static/build -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
expect("${said}" "mykernel has the type STATIC_LIBRARY")

# A word without a value, as an unset variable leaves it, is refused too; so is an empty one.
foreach(call IN ITEMS "CONTRACT" "CONTRACT \"\"" "CONTRACT SEED 7" "SEED 7 JUNIT" "NAME \"\" SEED 7")
  file(WRITE ${work}/static/CMakeLists.txt
       "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(attest REQUIRED COMPONENTS kernel_abi)\nadd_library(mykernel SHARED mykernel.c)\nattest_add_audit(mykernel ${call})\n")
  run(1 said ${CMAKE_COMMAND} -G Ninja -S ${work}/static -B ${work}/static/build -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_C_COMPILER=${C})
  string(REGEX REPLACE "^SEED 7 | .*" "" word "${call}")
  expect("${said}" "attest_add_audit(mykernel): ${word} has no value")
endforeach()
file(REMOVE_RECURSE ${work})
