// A small writer of HTML, SVG and XML: well-formed by construction, and everything from outside is escaped here.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest::audit {

/// `text` as character data or the value of an attribute.
/// Ensures   no byte of < > & " ' is left, and only what printable() lets pass (no control characters, no invalid
///           UTF-8, nothing that turns the direction of text)
std::string escaped(std::string_view text);

/// The same for XML alone, where &apos; is the name of ' and text may have lines: '\n' is &#10;, and a line of more
/// than 100,000 bytes is cut.
std::string escaped_lines(std::string_view text);

/// Elements, written one after the other. A page is XML and HTML at once: every element is closed, `a/` where it is
/// empty. Names of elements and attributes are our own words; values and text may be anybody's.
class markup {
 public:
  using attributes = std::initializer_list<std::pair<std::string_view, std::string>>;
  enum class style {
    page,     ///< HTML and SVG: elements without anything in between
    document  ///< an XML file of its own: its declaration, then every element on a line, two columns in for each that
              ///< it is in
  };

  explicit markup(style chosen = style::page) : style_(chosen) {
    if (style_ == style::document) written_ = R"(<?xml version="1.0" encoding="UTF-8"?>)";
  }

  markup& open(std::string_view name, attributes list = {});
  markup& close();
  /// An element without content: <path d="…"/>.
  markup& leaf(std::string_view name, attributes list = {});
  /// An element that holds text alone.
  markup& element(std::string_view name, attributes list, std::string_view text);
  markup& element(std::string_view name, std::string_view text) { return element(name, {}, text); }
  markup& text(std::string_view text);
  /// Markup of another writer, or our own style sheet: not escaped.
  markup& trusted(std::string_view made);

  /// Closes what is open; a document ends with its line.
  std::string finish() &&;

 private:
  void begin(std::string_view name, attributes list);
  std::string escape(std::string_view text) const {
    return style_ == style::page ? escaped(text) : escaped_lines(text);
  }
  /// A new line, indented for what is open, where the style has lines.
  void line();

  style style_;
  std::string written_;
  std::vector<std::string> open_;
};

}  // namespace attest::audit
