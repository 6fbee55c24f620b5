# ATTEST_SELF_CONTAINED: oneTBB's names with one thread behind them, Highway from its headers and three functions, fmt
# from its headers, and no filter of system calls. Nothing but the C and C++ libraries is needed at run time.
add_library(attest_serial_tbb INTERFACE)
target_include_directories(attest_serial_tbb INTERFACE ${CMAKE_CURRENT_LIST_DIR})
add_library(TBB::tbb ALIAS attest_serial_tbb)

find_path(ATTEST_HIGHWAY_HEADERS hwy/highway.h REQUIRED)
add_library(attest_hwy STATIC ${CMAKE_CURRENT_LIST_DIR}/hwy_targets.cpp)
target_compile_features(attest_hwy PUBLIC cxx_std_20)
add_library(hwy::hwy ALIAS attest_hwy)
