# attest_room(name SOURCES file… [USES target…] [PRIVATE target…])
#
# One folder of audit/ as the static library attest_<name>. USES are the rooms and libraries that its headers show,
# PRIVATE those of its sources alone. tests/repository/include_arrows.py holds the includes to the same picture.
function(attest_room name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;USES;PRIVATE")
  add_library(attest_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(attest_${name} PUBLIC attest_problem ${ARG_USES} PRIVATE attest_flags ${ARG_PRIVATE})
endfunction()
