#include "audit/support/markup.hpp"

#include "audit/support/printable.hpp"

namespace attest::audit {

std::string escaped(std::string_view text) {
  std::string made;
  for (char const c : printable(text, std::string_view::npos)) switch (c) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      case '\'': made += "&#39;"; break;
      default: made += c;
    }
  return made;
}

void markup::begin(std::string_view name, attributes list) {
  written_.append("<").append(name);
  for (auto const& [attribute, value] : list)
    written_.append(" ").append(attribute).append("=\"").append(escaped(value)).append("\"");
}

markup& markup::open(std::string_view name, attributes list) {
  begin(name, list);
  written_ += '>';
  open_.emplace_back(name);
  return *this;
}

markup& markup::close() {
  if (open_.empty()) return *this;
  written_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

markup& markup::leaf(std::string_view name, attributes list) {
  begin(name, list);
  written_ += "/>";
  return *this;
}

markup& markup::element(std::string_view name, attributes list, std::string_view text) {
  return open(name, list).text(text).close();
}

markup& markup::text(std::string_view text) {
  written_ += escaped(text);
  return *this;
}

markup& markup::trusted(std::string_view made) {
  written_ += made;
  return *this;
}

std::string markup::finish() && {
  while (!open_.empty()) close();
  return std::move(written_);
}

}  // namespace attest::audit
