// A smallest file for `attest verify`.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace attest::tests {

/// A file with one query, one key, v = 2 and the recorded output `o`; right is 2. The names begin with `prefix`.
inline std::string recorded(float o, std::string const& prefix = "", nlohmann::json const& metadata = {}) {
  nlohmann::ordered_json head = nlohmann::ordered_json::object();
  if (!metadata.empty()) head["__metadata__"] = metadata;
  std::string data;
  for (auto const& [name, value] : {std::pair("q", 1.0f), {"k", 1.0f}, {"v", 2.0f}, {"o", o}}) {
    head[prefix + name] = {
        {"dtype", "F32"}, {"shape", {1, 1, 1, 1}}, {"data_offsets", {data.size(), data.size() + sizeof value}}};
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    data.append(bytes, sizeof value);
  }
  std::string const text = head.dump();
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return length + text + data;
}

}  // namespace attest::tests
