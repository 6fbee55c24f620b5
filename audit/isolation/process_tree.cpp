#include "audit/isolation/process_tree.hpp"

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>
#include <unistd.h>

namespace attest::audit {
namespace {

struct process_stat {
  int parent = 0;  ///< 0 if the process has ended
  double processor_seconds = 0;
};

/// The fields after the name, which ends with the last ')'.
process_stat stat_of(int id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text;
  std::getline(file, text);
  auto const end = text.rfind(')');
  char state = 0;
  int parent = 0;
  long long user = 0, system = 0, user_of_children = 0, system_of_children = 0;
  if (end == text.npos ||
      std::sscanf(text.c_str() + end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld", &state,
                  &parent, &user, &system, &user_of_children, &system_of_children) != 6)
    return {};
  static double const ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {parent, static_cast<double>(user + system + user_of_children + system_of_children) / ticks};
}

}  // namespace

std::optional<int> number_in(std::string const& name) {
  int number = 0;
  auto const [stop, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  return fault == std::errc{} && stop == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

std::vector<tree_process> process_tree(int id) {
  int const root = stat_of(id).parent;
  return root <= 1 ? std::vector<tree_process>{} : processes_below(root);
}

std::vector<tree_process> processes_below(int id) {
  std::unordered_multimap<int, tree_process> children;  // by parent
  std::error_code code;
  for (std::filesystem::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    auto const number = number_in(at->path().filename().native());
    if (!number) continue;
    auto const seen = stat_of(*number);
    children.emplace(seen.parent, tree_process{*number, seen.processor_seconds});
  }
  std::vector<tree_process> tree;
  auto const add_children = [&](int parent) {
    auto const [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) tree.push_back(child->second);
  };
  add_children(id);
  for (std::size_t next = 0; next < tree.size(); ++next) add_children(tree[next].id);
  return tree;
}

}  // namespace attest::audit
