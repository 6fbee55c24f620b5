#include <cstdint>

#include <fmt/format.h>

#include "audit/program/describe/description.hpp"
#include "audit/report/version.hpp"

namespace attest::audit {
namespace {

/// The text as roff prints it: ASCII, with no character of its own meaning and no request at the beginning of a line.
std::string roff(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    if (line_begins && (byte == '.' || byte == '\'')) escaped += "\\&";
    line_begins = byte == '\n';
    if (byte == '\\') escaped += "\\(rs";
    else if (byte == '-') escaped += "\\-";
    else if (byte == '\'') escaped += "\\(aq";
    else if (byte == '`') escaped += "\\(ga";
    else if (byte == '^') escaped += "\\(ha";
    else if (byte == '~') escaped += "\\(ti";
    else if (byte < 0x80) escaped += text[at];
    else {  // UTF-8: the lead byte's length, then six bits a byte
      int const length = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      std::uint32_t code = byte & (0x3fu >> length);
      for (int n = 0; n < length && at + 1 < text.size(); ++n)
        code = code << 6 | (static_cast<unsigned char>(text[++at]) & 0x3fu);
      escaped += fmt::format("\\[u{:04X}]", code);
    }
  }
  return escaped;
}

std::string names_of(described_option const& option) {
  std::string line;
  for (std::string const& name : option.names)
    line += fmt::format("{}\\fB{}\\fR", line.empty() ? "" : ", ", roff(name));
  if (!option.value.empty() && !option.positional) line += fmt::format(" \\fI{}\\fR", roff(option.value));
  return line;
}

std::string entry(described_option const& option) {
  std::string words;
  for (std::string const& word : option.words) words += (words.empty() ? " Known values: " : ", ") + word;
  return fmt::format(".TP\n{}\n{}{}\n", names_of(option), roff(option.summary),
                     words.empty() ? "" : "." + roff(words) + ".");
}

std::string usage_line(described_command const& command) {
  std::string line = fmt::format(".PP\n\\fBattest {}\\fR [\\fIOPTION\\fR]...", roff(command.name));
  for (described_option const& option : command.options)
    if (option.positional)
      line += fmt::format(" {}\\fI{}\\fR{}{}", option.required ? "" : "[", roff(option.names.front()),
                          option.several ? "..." : "", option.required ? "" : "]");
  return line + '\n';
}

std::string section(described_command const& command) {
  std::string page =
      fmt::format(".SS {}\n{}.PP\n{}.\n", roff(command.name), usage_line(command), roff(command.summary));
  for (described_option const& option : command.options) page += entry(option);
  if (!command.footer.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  return page;
}

}  // namespace

std::string manual_page(description const& all) {
  std::string_view summary = all.program.summary;  // "attest: attention kernels, …"
  if (summary.starts_with("attest: ")) summary.remove_prefix(8);
  std::string page = fmt::format(
      ".\\\" Written by `attest describe man`.\n.TH ATTEST 1 \"\" \"attest {}\" \"User Commands\"\n.nh\n.ad l\n"
      ".SH NAME\nattest \\- {}\n.SH SYNOPSIS\n\\fBattest\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR | \\fIARGUMENT\\fR]...\n",
      version, roff(summary));
  page += ".SH OPTIONS\n";
  for (described_option const& option : all.program.options) page += entry(option);
  page += ".SH COMMANDS\n";
  for (described_command const& command : all.commands) page += section(command);
  return page + fmt::format(".SH NOTES\n{}\n", roff(all.program.footer));
}

}  // namespace attest::audit
