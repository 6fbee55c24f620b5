# Third-party parts. packages/debian.txt is the same list for apt.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)  # older cpp_int shifts are not constexpr
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(hwy REQUIRED)
find_package(dlpack REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(BUILD_TESTING)
  find_package(Catch2 REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
