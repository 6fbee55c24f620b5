// Runs the files and folders given as arguments through a fuzz target, without libFuzzer: every compiler builds it and
// CTest runs it on the corpus, so no target rots. With --mutations N each input is asked N times more, mutated; with
// --times, how long each took is printed too.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                                             unsigned seed);

/// Stands for libFuzzer's own mutation: one byte changes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t) {
  if (size > 0) data[size / 3] = static_cast<std::uint8_t>(data[size / 3] * 5 + 3);
  return size;
}

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(std::vector<fs::path> const& paths) {
  std::vector<fs::path> files;
  for (fs::path const& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (auto const& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<fs::path> paths;
  int mutations = 0;
  bool times = false;
  for (int at = 1; at < count; ++at) {
    std::string const word = arguments[at];
    if (word == "--mutations" && at + 1 < count) mutations = std::atoi(arguments[++at]);
    else if (word == "--times") times = true;
    else paths.emplace_back(word);
  }
  std::vector<fs::path> const files = files_of(paths);
  unsigned seed = 0;
  for (auto const& path : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "%s: cannot be opened\n", path.c_str());
      return 2;
    }
    std::vector<char> const bytes{std::istreambuf_iterator<char>(in), {}};
    auto const* const data = reinterpret_cast<std::uint8_t const*>(bytes.data());
    auto const start = std::chrono::steady_clock::now();
    LLVMFuzzerTestOneInput(data, bytes.size());
    if (times)
      std::printf("%.1f us  %s\n",
                  std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count(),
                  path.filename().c_str());
    for (int n = 0; n < mutations; ++n) {
      std::vector<std::uint8_t> room(data, data + bytes.size());
      room.resize(bytes.size() + 64);
      std::size_t const size = LLVMFuzzerCustomMutator
                                   ? LLVMFuzzerCustomMutator(room.data(), bytes.size(), room.size(), ++seed)
                                   : LLVMFuzzerMutate(room.data(), bytes.size(), room.size());
      LLVMFuzzerTestOneInput(room.data(), size);
    }
  }
  std::printf("%zu inputs replayed\n", files.size());
  return files.empty() ? 2 : 0;
}
