# A person who runs `cmake --install` and then writes find_package(attest): installs BUILD, moves the installation
# elsewhere, builds tests/consumer against it, and runs what was built and what was installed.
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
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/consumer -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${work}/consumer/consumer)
run(${work}/consumer/calls_kernel)
# The installed program finds its runner, its kernel and its data where it lies now.
run(${prefix}/bin/attest audit --quick --draws 20)
# So does a person the installed contracts.
run(${prefix}/bin/attest gen --quick --seed 1 --out ${work}/cases.safetensors
  --contract ${prefix}/share/attest/contracts/flash-attention-2-bf16.json)
# And the schemas of what it reads and writes.
foreach(schema contract report vectors)
  file(READ ${prefix}/share/attest/${schema}.schema.json text)
endforeach()
file(REMOVE_RECURSE ${work})
