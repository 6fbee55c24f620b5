# A person who runs `cmake --install` and then writes find_package(attest): installs BUILD, moves the installation
# elsewhere, builds consumer/ against it, and runs what was built and what was installed.
# cmake -DBUILD=... -DCONFIG=... -DC=... -DCXX=... -P install_test.cmake
set(work ${BUILD}/install_test)
set(prefix "${work}/moved here")
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${work}/installed)
file(RENAME ${work}/installed ${prefix})
# The C++ block of docs/library.md, which proves a digit.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../docs/library.md readme)
string(REGEX MATCH "\n```cpp\n([^`]*)```" block "${readme}")
file(WRITE ${work}/readme.cpp "${CMAKE_MATCH_1}")
# (Not optimised: it must link and answer.)
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/consumer -DCMAKE_PREFIX_PATH=${prefix}
  -DREADME=${work}/readme.cpp -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${work}/consumer/consumer)
run(${work}/consumer/calls_kernel)
run(${work}/consumer/two_languages)
# A kernel without the libraries, with two compilers: it gets no flag and no language standard.
find_program(CLANG clang-19)
find_program(CLANGXX clang++-19)
foreach(compilers IN ITEMS "${C};${CXX}" "${CLANG};${CLANGXX}")
  if(compilers MATCHES "NOTFOUND")
    continue()
  endif()
  list(GET compilers 0 c)
  list(GET compilers 1 cxx)
  file(REMOVE_RECURSE ${work}/kernels)
  run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/kernel_abi -B ${work}/kernels -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_C_COMPILER=${c} -DCMAKE_CXX_COMPILER=${cxx} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
  run(${CMAKE_COMMAND} --build ${work}/kernels)
  file(READ ${work}/kernels/compile_commands.json commands)
  if(commands MATCHES "-ffp-contract|-fconstexpr|std=[a-z+]*2")
    message(FATAL_ERROR "attest::kernel_abi has flags of its own:\n${commands}")
  endif()
  # Nothing was answered: undecided, and so each gate fails, but it was asked.
  execute_process(COMMAND ctest --test-dir ${work}/kernels -R audit.cxx17_noexcept -V OUTPUT_VARIABLE said)
  if(NOT said MATCHES "UNDECIDED")
    message(FATAL_ERROR "the gate does not ask the kernel:\n${said}")
  endif()
endforeach()
# Without CMake: each of attest's packages, in the folder whose name has a space.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(WRITE ${work}/packages.sh [=[
set -eu
c=$1 cxx=$2 sources=$3 libraries=$4
PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
build() { # compiler packages sources and options…
  compiler=$1 packages=$2
  shift 2
  eval '"$compiler" "$@" '"$(pkg-config --cflags --libs $packages)"
}
for package in kernel-abi kernel fast reference machine; do pkg-config --exists --print-errors attest-$package; done
build "$c" attest-kernel "$sources/calls_kernel.c" -o calls_kernel
LD_LIBRARY_PATH=$libraries ./calls_kernel
build "$cxx" "attest-machine attest-fast" -std=c++20 "$sources/main.cpp" -o consumer
./consumer
[ -z "$(pkg-config --libs attest-kernel-abi)" ]
]=])
  file(MAKE_DIRECTORY ${work}/packages)
  file(GLOB_RECURSE libraries ${prefix}/attest-kernel.pc)
  cmake_path(GET libraries PARENT_PATH libraries)
  cmake_path(GET libraries PARENT_PATH libraries)
  execute_process(COMMAND sh ${work}/packages.sh ${C} ${CXX} ${CMAKE_CURRENT_LIST_DIR}/consumer ${libraries}
    WORKING_DIRECTORY ${work}/packages COMMAND_ERROR_IS_FATAL ANY)
endif()
# The installed pages, where there is a Python.
find_program(PYTHON python3)
if(PYTHON)
  run(${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/installed_links_test.py ${prefix} share/doc/attest)
endif()
# A component that does not exist: the error is a sentence that lists the existing ones.
file(WRITE ${work}/nonsense/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(attest REQUIRED COMPONENTS nonsense)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${work}/nonsense -B ${work}/nonsense/build
                -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_C_COMPILER=${C} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
if(status EQUAL 0 OR NOT said MATCHES "attest has no component 'nonsense'")
  message(FATAL_ERROR "the component 'nonsense': status ${status}, ${said}")
endif()
# The same names as in embedding_test.cmake.
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/embedding -B ${work}/names -DCMAKE_PREFIX_PATH=${prefix}
  -DATTEST=${CMAKE_CURRENT_LIST_DIR}/../.. -DHOW=find_package -DTARGETS=ON -DCMAKE_C_COMPILER=${C}
  -DCMAKE_CXX_COMPILER=${CXX})
# The installed program finds its runner, its kernel and its data where it lies now.
run(${prefix}/bin/attest audit --quick --draws 20 --draw-products 65536)
# And a program that serves the kernel of a library.
file(GLOB_RECURSE kernel ${prefix}/libattest_kernel.so)
run(${prefix}/bin/attest audit --quick --draws 0 --only heads --seed 1 --kernel
    "command:${work}/consumer/serves '${kernel}'"
  --allow read:${prefix})
# So does a person the installed contracts.
run(${prefix}/bin/attest gen --quick --seed 1 --out ${work}/cases.safetensors
  --contract ${prefix}/share/attest/contracts/flash-attention-2-bf16.json)
# And the schemas of what it reads and writes.
foreach(schema contract report vectors)
  file(READ ${prefix}/share/attest/${schema}.schema.json text)
endforeach()
file(REMOVE_RECURSE ${work})
