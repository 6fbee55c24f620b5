# The Python wheel (pyproject.toml): the program, its runner, its kernels and its data. They lie below
# attest_attention/_native/ as `cmake --install` lays them out, so that the program finds them relative to its own place
# (audit/support/locate.cpp). Everything is of the component `wheel`, and the target attest_wheel compiles just that.
#
# A machine that installs the wheel has neither Debian's packages nor a compiler. Libraries that are no part of every
# Linux (manylinux's list) lie in lib/attest next to the modules: TBB, Highway, fmt and libseccomp, 0.5 MB, found by
# relative RPATHs. They are copied and not linked statically. Debian has no static TBB and no static Highway, and the
# licence of libseccomp (LGPL 2.1) asks that it can be replaced. Everything that links TBB uses the machine's own
# libstdc++ and libgcc. TBB needs the shared ones: it passes exceptions of its tasks from thread to thread, which must
# not meet two C++ run-time libraries in one process. The library that Python itself loads (attest_serve) needs neither,
# so that it meets no other library's copy there.
set(wheel_bin bin)
set(wheel_lib ${CMAKE_INSTALL_LIBDIR})
set(wheel_modules ${CMAKE_INSTALL_LIBDIR}/attest)
set(wheel_loaded ${ATTEST_RESTRICTED_KERNELS} attest_zoo attest_vectors attest_answers)
set(wheel_targets attest attest_runner attest_kernel ${wheel_loaded})

install(TARGETS attest RUNTIME DESTINATION ${wheel_bin} COMPONENT wheel)
install(TARGETS attest_runner RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/attest COMPONENT wheel)
install(TARGETS attest_kernel LIBRARY DESTINATION ${wheel_lib} COMPONENT wheel)
install(TARGETS ${wheel_loaded} LIBRARY DESTINATION ${wheel_modules} COMPONENT wheel)
if(TARGET attest_serve)
  list(APPEND wheel_targets attest_serve)
  target_link_options(attest_serve PRIVATE LINKER:--as-needed)
  install(TARGETS attest_serve LIBRARY DESTINATION ${wheel_modules} COMPONENT wheel)
  install(FILES include/attest/serve.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attest COMPONENT wheel)
endif()
add_custom_target(attest_wheel)
add_dependencies(attest_wheel ${wheel_targets})

# Each finds the libraries relative to its own folder, whatever LD_LIBRARY_PATH says: an RPATH, not a RUNPATH. The
# kernel's process needs none of them.
foreach(target IN LISTS wheel_targets)
  set(folder ${wheel_modules})
  if(target STREQUAL attest)
    set(folder ${wheel_bin})
  elseif(target STREQUAL attest_kernel)
    set(folder ${wheel_lib})
  elseif(target STREQUAL attest_runner)
    continue()
  endif()
  file(RELATIVE_PATH libraries /${folder} /${wheel_modules})
  string(REGEX REPLACE "/$" "" libraries "$ORIGIN/${libraries}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${libraries}")
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endforeach()

# wheel_library(file): a copy of a shared library under the name that programs ask for. A static one is in them already.
function(wheel_library file)
  if(file MATCHES "\\.a$")
    return()
  endif()
  file(REAL_PATH ${file} file)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${file} is no shared library with a SONAME, so the wheel cannot carry it")
  endif()
  install(PROGRAMS ${file} DESTINATION ${wheel_modules} COMPONENT wheel RENAME ${CMAKE_MATCH_1})
endfunction()
foreach(library IN ITEMS TBB::tbb hwy::hwy ${ATTEST_FMT} libseccomp::libseccomp)
  get_target_property(file ${library} LOCATION)
  wheel_library(${file})
endforeach()

install(FILES tests/data/minilm_attention.safetensors docs/contract.schema.json docs/report.schema.json
        docs/vectors.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/attest COMPONENT wheel)
install(DIRECTORY contracts DESTINATION ${CMAKE_INSTALL_DATADIR}/attest COMPONENT wheel FILES_MATCHING PATTERN "*.json")
# The C interface: a user of the wheel can compile a kernel against it, with DLPack's header, which it includes.
install(FILES include/attest/builtin.h include/attest/kernel.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attest
        COMPONENT wheel)
find_path(ATTEST_DLPACK_HEADERS dlpack/dlpack.h REQUIRED)
install(FILES ${ATTEST_DLPACK_HEADERS}/dlpack/dlpack.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dlpack COMPONENT wheel)
# The licences of the libraries that are carried along, from where the libraries are.
foreach(package IN ITEMS libtbb12 libhwy1 libfmt9 libseccomp2 libdlpack-dev)
  if(EXISTS ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright)
    install(FILES ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright
            DESTINATION ${CMAKE_INSTALL_DATADIR}/attest/licences COMPONENT wheel RENAME ${package})
  endif()
endforeach()
