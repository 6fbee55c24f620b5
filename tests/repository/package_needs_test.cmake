# On a machine without a compiler or without the libraries, `pip install .` says what is missing, by the names that
# Debian has, and the command that installs it.
# cmake -DROOT=... -DWORK=... -P package_needs_test.cmake
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/no_programs)

# refuses(WORDS words… ENVIRONMENT settings… [OPTIONS options…]): the build of a wheel is refused with all these words.
function(refuses)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "WORDS;ENVIRONMENT;OPTIONS")
  file(REMOVE_RECURSE ${WORK}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARG_ENVIRONMENT} ${CMAKE_COMMAND} -S ${ROOT} -B ${WORK}/build
    -DATTEST_WHEEL=ON ${ARG_OPTIONS} RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  foreach(word IN LISTS ARG_WORDS ITEMS "./attest setup build")
    string(FIND "${said}" "${word}" at)
    if(status EQUAL 0 OR at EQUAL -1)
      message(FATAL_ERROR "status ${status}, and '${word}' is not in: ${said}")
    endif()
  endforeach()
endfunction()

refuses(WORDS "a C++20 compiler (g++)" ENVIRONMENT PATH=${WORK}/no_programs --unset=CXX)
refuses(WORDS libboost1.81-dev libfmt-dev libtbb-dev libhwy-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
        libseccomp-dev libdlpack-dev
  ENVIRONMENT --unset=CMAKE_PREFIX_PATH --unset=Boost_ROOT
  OPTIONS -DCMAKE_IGNORE_PATH=/usr/include -DCMAKE_SYSTEM_IGNORE_PATH=/usr/local/include)
