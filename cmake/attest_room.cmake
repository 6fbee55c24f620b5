# attest_room(name SOURCES file… [USES target…] [PRIVATE target…])
#
# One folder of audit/ as the static library attest_<name>. USES are the rooms and libraries that its headers include,
# PRIVATE the ones that only its sources include. tests/repository/include_arrows.py checks the includes themselves. If
# ATTEST_UNITY is ON, the sources of a room are one translation unit, so that the headers that they share are compiled
# once. Rooms are compiled with -O1: they spend their time on files, on processes, and in the oracle, which is optimised
# as the build type says.
function(attest_room name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;USES;PRIVATE")
  add_library(attest_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(attest_${name} PUBLIC attest_problem ${ARG_USES} PRIVATE attest_flags ${ARG_PRIVATE})
  attest_one_unit(attest_${name})
  attest_optimise_less(attest_${name})
endfunction()
