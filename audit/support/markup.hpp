// A small writer of HTML, SVG and XML. Its output is well-formed by construction, and it escapes all text and values.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest::audit {

/// `text` as character data or the value of an attribute.
/// Ensures   < > & " ' are escaped. The rest is the result of printable() (no control characters, no invalid UTF-8, no
///           characters that change the direction of text)
std::string escaped(std::string_view text);

/// The same for XML, which has &apos; for ', and with line breaks: '\n' becomes &#10;, and a line of more than 100,000
/// bytes is cut.
std::string escaped_lines(std::string_view text);

/// Writes elements one after the other. A page is both XML and HTML: every element is closed, an empty one as <a/>.
/// Names of elements and attributes come from attest's own code; values and text may come from outside.
class markup {
 public:
  using attributes = std::initializer_list<std::pair<std::string_view, std::string>>;
  enum class style {
    page,     ///< HTML and SVG: no space between the elements
    document  ///< an XML file: the XML declaration, then one element a line, indented by two columns a level
  };

  explicit markup(style chosen = style::page) : style_(chosen) {
    if (style_ == style::document) written_ = R"(<?xml version="1.0" encoding="UTF-8"?>)";
  }

  markup& open(std::string_view name, attributes list = {});
  markup& close();
  /// An element without content: <path d="…"/>.
  markup& leaf(std::string_view name, attributes list = {});
  /// An element whose content is text.
  markup& element(std::string_view name, attributes list, std::string_view text);
  markup& element(std::string_view name, std::string_view text) { return element(name, {}, text); }
  markup& text(std::string_view text);
  /// Markup of another writer, or the style sheet of a report: appended without escaping.
  markup& trusted(std::string_view finished);

  /// Closes the open elements; a document ends with a line break.
  std::string finish() &&;

 private:
  void begin(std::string_view name, attributes list);
  std::string escape(std::string_view text) const {
    return style_ == style::page ? escaped(text) : escaped_lines(text);
  }
  /// In a document: begins a new line, indented by the number of open elements.
  void line();

  style style_;
  std::string written_;
  std::vector<std::string> open_;
};

}  // namespace attest::audit
