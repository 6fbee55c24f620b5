// What a kernel needs in addition to the files that it consists of, as the judge was told.
#pragma once

#include <cstddef>
#include <cstring>

namespace attest::audit::runner {

/// The beginning of a word that is an argument of the program, not a need.
inline constexpr char argument_word[] = "argument:";

/// From the words after the symbol: "device", "net", "read:PATH".
struct kernel_needs {
  bool device = false, network = false;
  char** words = nullptr;
  int count = 0;

  kernel_needs(char** given, int how_many) noexcept : words(given), count(how_many) {
    for (int n = 0; n < count; ++n) {
      device = device || std::strcmp(words[n], "device") == 0;
      network = network || std::strcmp(words[n], "net") == 0;
    }
  }
  /// The path of word `n`, or null.
  char const* readable(int n) const noexcept {
    constexpr char prefix[] = "read:";
    return std::strncmp(words[n], prefix, sizeof prefix - 1) == 0 ? words[n] + sizeof prefix - 1 : nullptr;
  }
  /// The argument of the program that word `n` holds, or null.
  char* argument(int n) const noexcept {
    constexpr std::size_t prefix = sizeof argument_word - 1;
    return std::strncmp(words[n], argument_word, prefix) == 0 ? words[n] + prefix : nullptr;
  }
};

/// The devices of accelerators: their files, and folders of files.
template <class F>
void visit_accelerators(F&& visit) noexcept {
  for (char const* path : {"/dev/dri", "/dev/kfd", "/dev/accel", "/dev/nvidiactl", "/dev/nvidia-uvm",
                           "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps"})
    visit(path);
  char path[] = "/dev/nvidia0";
  for (char number = '0'; number <= '9'; ++number) {
    path[sizeof path - 2] = number;
    visit(path);
  }
  char second[] = "/dev/nvidia10";
  for (char number = '0'; number <= '5'; ++number) {
    second[sizeof second - 2] = number;
    visit(second);
  }
}

}  // namespace attest::audit::runner
