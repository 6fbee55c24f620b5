// The words of a command line before they are parsed, and the sentences about wrong words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace attest::audit {

/// `help [COMMAND]` as `[COMMAND] --help`, and `version` as `--version`; other words as they are.
std::vector<std::string> plain_words(std::vector<std::string> words);

/// A sentence about an empty word, such as an unset variable of a shell leaves. Returns nothing if there is none. An
/// empty word for --findings is a value ("save none") and becomes a word of its own.
std::optional<std::string> empty_word(std::vector<std::string>& words);

/// The parser's error in attest's words, one line, with the option or argument that it is about. `command` is the
/// command that failed.
std::string sentence_of(CLI::ParseError const& thrown, CLI::App const& command);

/// For an option of type std::uint64_t: the parser by itself would take −1, and any number above 2⁶⁴ − 1, as 2⁶⁴ − 1.
/// Accepts decimal numbers, and hexadecimal ones after 0x; it is the first of its option's transforms.
CLI::Validator whole_number();

}  // namespace attest::audit
