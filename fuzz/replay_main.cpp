// Runs the files and folders given as arguments through a fuzz target, without libFuzzer: every compiler builds it and
// CTest runs it on the corpus, so no target rots.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (fs::path const& given : std::vector<fs::path>(arguments + 1, arguments + count)) {
    if (!fs::is_directory(given)) {
      files.push_back(given);
      continue;
    }
    for (auto const& entry : fs::recursive_directory_iterator(given))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (auto const& path : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "%s: cannot be opened\n", path.c_str());
      return 2;
    }
    std::vector<char> const bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return files.empty() ? 2 : 0;
}
