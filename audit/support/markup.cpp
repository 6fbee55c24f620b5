#include "audit/support/markup.hpp"

#include "audit/support/printable.hpp"

namespace attest::audit {

namespace {

std::string escaped(std::string_view text, std::size_t limit, std::string_view apostrophe) {
  std::string result;
  for (char const c : printable(text, limit)) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += apostrophe; break;
      default: result += c;
    }
  return result;
}

}  // namespace

std::string escaped(std::string_view text) { return escaped(text, std::string_view::npos, "&#39;"); }

std::string escaped_lines(std::string_view text) {
  std::string result;
  for (;;) {
    std::size_t const end = text.find('\n');
    result += escaped(text.substr(0, end), 100'000, "&apos;");
    if (end == std::string_view::npos) return result;
    result += "&#10;";
    text.remove_prefix(end + 1);
  }
}

void markup::line() {
  if (style_ == style::document) written_.append("\n").append(2 * open_.size(), ' ');
}

void markup::begin(std::string_view name, attributes list) {
  line();
  written_.append("<").append(name);
  for (auto const& [attribute, value] : list)
    written_.append(" ").append(attribute).append("=\"").append(escape(value)).append("\"");
}

markup& markup::open(std::string_view name, attributes list) {
  begin(name, list);
  written_ += '>';
  open_.emplace_back(name);
  return *this;
}

markup& markup::close() {
  if (open_.empty()) return *this;
  std::string const name = std::move(open_.back());
  open_.pop_back();
  line();
  written_.append("</").append(name).append(">");
  return *this;
}

markup& markup::leaf(std::string_view name, attributes list) {
  begin(name, list);
  written_ += "/>";
  return *this;
}

markup& markup::element(std::string_view name, attributes list, std::string_view text) {
  begin(name, list);
  written_.append(">").append(escape(text)).append("</").append(name).append(">");
  return *this;
}

markup& markup::text(std::string_view text) {
  written_ += escape(text);
  return *this;
}

markup& markup::trusted(std::string_view finished) {
  written_ += finished;
  return *this;
}

std::string markup::finish() && {
  while (!open_.empty()) close();
  line();
  return std::move(written_);
}

}  // namespace attest::audit
