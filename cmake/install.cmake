# cmake --install, and the targets that find_package(attest) then provides: attest::kernel_abi, attest::problem,
# attest::reference (headers), attest::compiled, attest::machine, attest::gradient and attest::fast (static);
# attest::kernel (shared, behind the C interface), attest::attest (the program), attest::serve (for programs that serve
# a kernel); and the function attest_add_audit. Headers include each other as "problem/x.hpp"; consumers write
# <attest/problem/x.hpp>. tests/repository/install_test.cmake tests all of this.
include(CMakePackageConfigHelpers)
set(ATTEST_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attest)
set(ATTEST_HEADERS_DIR ${CMAKE_INSTALL_INCLUDEDIR}/attest)

foreach(part problem reference fast)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${part} DESTINATION ${ATTEST_HEADERS_DIR} FILES_MATCHING PATTERN "*.hpp"
    PATTERN abi EXCLUDE)
endforeach()
install(DIRECTORY ${ATTEST_FORWARDING_DIR}/ DESTINATION ${ATTEST_HEADERS_DIR})
install(FILES include/attest/builtin.h include/attest/kernel.h include/attest/serve.h DESTINATION ${ATTEST_HEADERS_DIR})

# Two exports: the needs of a kernel and its gate, which depend on DLPack's header alone, and the libraries.
install(TARGETS attest_kernel_header EXPORT attest-kernel-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(part problem reference compiled machine gradient fast kernel)
  if(TARGET attest_${part})
    install(TARGETS attest_${part} EXPORT attest-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endforeach()
if(TARGET attest)
  install(TARGETS attest EXPORT attest-kernel-targets)  # attest::attest, for attest_add_audit
endif()
if(TARGET attest_serve)
  install(TARGETS attest_serve EXPORT attest-kernel-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET attest_runner)
  install(TARGETS attest_runner DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/attest)
endif()
if(TARGET attest_zoo)
  install(TARGETS attest_zoo attest_vectors attest_answers ${ATTEST_RESTRICTED_KERNELS}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/attest)
endif()
# Recorded inputs that `attest audit` uses by default (the check real-data).
install(FILES tests/data/minilm_attention.safetensors DESTINATION ${CMAKE_INSTALL_DATADIR}/attest)
# Contracts of kernels that people run (docs/contracts.md).
install(DIRECTORY contracts DESTINATION ${CMAKE_INSTALL_DATADIR}/attest FILES_MATCHING PATTERN "*.json")

install(EXPORT attest-kernel-targets NAMESPACE attest:: DESTINATION ${ATTEST_CMAKE_DIR})
install(EXPORT attest-targets NAMESPACE attest:: DESTINATION ${ATTEST_CMAKE_DIR})
configure_package_config_file(cmake/attest-config.cmake.in attest-config.cmake INSTALL_DESTINATION ${ATTEST_CMAKE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(attest-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES cmake/attest_add_audit.cmake DESTINATION ${ATTEST_CMAKE_DIR})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/attest-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/attest-config-version.cmake
  DESTINATION ${ATTEST_CMAKE_DIR})
include(cmake/pkgconfig.cmake)
include(cmake/installed_pages.cmake)
set(descriptions ${PROJECT_BINARY_DIR}/descriptions)
install(FILES ${descriptions}/attest.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${descriptions}/attest DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${descriptions}/_attest DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${descriptions}/attest.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# JSON Schemas of what the program reads and writes.
install(FILES docs/contract.schema.json docs/report.schema.json docs/vectors.schema.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/attest)

# What `cmake --install` needs, for the tests that install.
add_custom_target(attest_installed)
foreach(target IN ITEMS attest attest_runner attest_serve attest_zoo attest_vectors attest_answers attest_kernel
        ${ATTEST_RESTRICTED_KERNELS} attest_compiled attest_machine attest_gradient attest_fast attest_descriptions)
  if(TARGET ${target})
    add_dependencies(attest_installed ${target})
  endif()
endforeach()
