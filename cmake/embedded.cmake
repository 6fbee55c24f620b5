# Included where attest is a part of another project's build, by add_subdirectory or FetchContent. What that project set
# for its own targets does not fit attest's; the changes below hold in attest's folders alone.

# The program finds its runner, its kernels and its data by where they lie in attest's own binary directory, and by
# name.
foreach(kind IN ITEMS RUNTIME LIBRARY ARCHIVE)
  set(CMAKE_${kind}_OUTPUT_DIRECTORY "")
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER ${config} config)
    unset(CMAKE_${kind}_OUTPUT_DIRECTORY_${config})
    set(CMAKE_${config}_POSTFIX "")
  endforeach()
endforeach()

# The libraries that the program loads export by attributes and by maps; and what is compiled for one SIMD target, or
# without contraction, stays apart from the rest.
set(CMAKE_C_VISIBILITY_PRESET default)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_VISIBILITY_INLINES_HIDDEN OFF)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)

# Without optimisation an audit takes many times as long.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# That project's rules for its own sources.
foreach(tool IN ITEMS CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
  set(CMAKE_C_${tool} "")
  set(CMAKE_CXX_${tool} "")
endforeach()
set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
set(CMAKE_UNITY_BUILD OFF)
