// The domain as text, in both directions.
#include <algorithm>
#include <functional>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/domain/size_axis.hpp"
#include "audit/cases/random.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

constexpr std::string_view forms_of_bands[band_form_count]{"none",     "top-left", "bottom-right",
                                                           "diagonal", "window",   "square"};

/// Behind a rule: "n%128,0,1".
constexpr std::string_view or_zero = ",0", or_one = ",1";

std::vector<std::string> words_of(std::string_view name, size_set const& sizes) {
  std::vector<std::string> words;
  if (!sizes.listed.empty()) {
    words.push_back(fmt::format("{}={}", name, fmt::join(sizes.listed, ",")));
    return words;
  }
  std::string_view const one = sizes.one ? or_one : "";
  bool const in_granules = sizes.granule > 1;
  if (in_granules) words.push_back(fmt::format("{}%{}{}{}", name, sizes.granule, sizes.least == 0 ? or_zero : "", one));
  if (sizes.least != 0 && sizes.least != (in_granules ? sizes.granule : 0))
    words.push_back(fmt::format("{}>={}{}", name, sizes.least, in_granules ? "" : one));
  if (sizes.most < size_set::unbounded) words.push_back(fmt::format("{}<={}", name, sizes.most));
  return words;
}

/// "lse=always", "weights=never".
std::vector<std::string> words_of(outputs_rule const& rule) {
  std::vector<std::string> words;
  for (auto const& [name, one] : {std::pair("lse", rule.lse), std::pair("weights", rule.weights)})
    if (one != output_asking::as_wanted)
      words.push_back(fmt::format("{}={}", name, one == output_asking::always ? "always" : "never"));
  return words;
}

/// "m=n", "n=1,m", "m>=2n", "n>=m". Requires  a rule of lengths
std::string relation_words(call_domain const& of) {
  using enum call_domain::lengths;
  if (of.queries == equal) return of.decodes() ? "n=1,m" : "m=n";
  bool const keys = of.queries == no_more_queries;
  return fmt::format("{}>={}{}", keys ? "m" : "n", of.times > 1 ? std::to_string(of.times) : "", keys ? "n" : "m");
}
constexpr std::int64_t most_times = 1 << 20;

std::vector<std::string_view> parted(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (auto const part : std::views::split(text, at)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

/// One word: an axis, a relation, a value.
struct domain_word {
  std::string_view axis, relation, value;
};
domain_word divided(std::string_view text) {
  std::size_t const at = std::min(text.find_first_of("=%<>"), text.size());
  std::size_t const end = at + 1 < text.size() && text[at] != '=' && text[at + 1] == '=' ? at + 2 : at + 1;
  return {text.substr(0, at), text.substr(at, end - at), text.substr(std::min(end, text.size()))};
}

/// Reads the words of one text into a domain.
class domain_reader {
 public:
  std::optional<error> read(std::string_view text) {
    domain_word const said = divided(text);
    if (auto const reason = taken(said))
      return error{error_code::bad_value, "--domain", fmt::format("'{}' {}", printable(text), *reason)};
    return std::nullopt;
  }
  problem::result<call_domain> finish() {
    problem_draft call = blank({1, 1, 1, 1, 1, 1, 1}, problem::element_type::f32);
    supply(call, of_.needs);
    if (!of_.needs.all_in(call))
      return error{error_code::bad_value, "--domain",
                   fmt::format("'needs={}' names inputs that no call has together", fmt::join(of_.needs.names(), ","))};
    if (of_.dv != call_domain::value_widths::paired) return of_;
    if (of_.d.listed.size() != of_.value_width.size())
      return error{error_code::bad_value, "--domain",
                   fmt::format("dv lists {} widths and d {}: each width of dv belongs to the d at its place",
                               of_.value_width.size(), of_.d.listed.size())};
    std::vector<std::pair<std::int64_t, std::int64_t>> both;
    for (std::size_t at = 0; at < of_.value_width.size(); ++at)
      both.emplace_back(of_.d.listed[at], of_.value_width[at]);
    std::ranges::sort(both);
    for (std::size_t at = 0; at < both.size(); ++at) std::tie(of_.d.listed[at], of_.value_width[at]) = both[at];
    return of_;
  }

 private:
  /// Why it is no word of a domain. Returns nothing if it is one.
  std::optional<std::string> taken(domain_word const& said) {
    if (said.value.empty()) return "has no value; write d=64,128, n%128, m=n, causal=none or scale>0";
    if (said.axis == "dv") return value_widths(said);
    if (said.axis == "causal") return bands(said);
    if (said.axis == "scale") return scale(said);
    if (said.axis == "needs") return needs(said);
    if (said.axis == "lse") return output(said, of_.outputs.lse);
    if (said.axis == "weights") return output(said, of_.outputs.weights);
    if ((said.axis == "m" && said.value.ends_with('n')) || (said.axis == "n" && said.value.ends_with('m')))
      return lengths(said);
    for (size_axis const& axis : size_axes)
      if (said.axis == axis.name) return sizes(said, of_.*axis.set);
    std::vector<std::string_view> known{"causal", "scale", "needs", "lse", "weights"};
    for (size_axis const& axis : size_axes) known.push_back(axis.name);
    return fmt::format("names no axis{}; the axes are {}", did_you_mean(said.axis, known), fmt::join(known, ", "));
  }

  /// "m=n", "n=1,m", "m>=2n", "n>=2m"; "n<=m" is "m>=n".
  std::optional<std::string> lengths(domain_word said) {
    using enum call_domain::lengths;
    bool const one_too = said.axis == "n" && said.relation == "=" && said.value == "1,m";
    if (one_too) said.value = "m", of_.n.one = true;
    std::string_view const count = said.value.substr(0, said.value.size() - 1);
    auto const times = count.empty() ? std::optional<std::int64_t>(1) : size_in(count);
    bool const same = said.relation == "=", most = said.relation == "<=";
    if (!times || *times < 1 || *times > most_times || (*times > 1 && said.relation != ">=") ||
        (!same && !most && said.relation != ">="))
      return "says no rule of lengths; write m=n, n=1,m, m>=n, m>=2n or n>=m";
    if (of_.queries != any) return "is a second rule of lengths; write one, such as m=n";
    of_.queries = same ? equal : (said.axis == "m") == most ? no_more_keys : no_more_queries;
    of_.times = *times;
    return std::nullopt;
  }

  std::optional<std::string> sizes(domain_word said, size_set& into) {
    if (said.relation == "=") {
      for (std::string_view const part : parted(said.value, ',')) {
        auto const size = size_in(part);
        if (!size) return "lists no sizes; write d=64,128";
        into.listed.push_back(*size);
      }
      // A value width follows its head size: finish() sorts both.
      if (&into != &of_.d) std::ranges::sort(into.listed);
      return std::nullopt;
    }
    if (said.axis == "n" && said.relation != "<=" && said.value.ends_with(or_one))
      into.one = true, said.value.remove_suffix(or_one.size());
    if (said.relation == "%" && said.value.ends_with(or_zero))
      into.least = 0, least_said_.insert(&into), said.value.remove_suffix(or_zero.size());
    auto const size = size_in(said.value);
    if (!size) return "has no size; write n%128, n%128,1, n>=1 or n<=4096";
    if (said.relation == "%" && *size > 0) {
      into.granule = *size;
      if (!least_said_.contains(&into)) into.least = *size > 1 ? *size : 0;
    } else if (said.relation == ">=") into.least = *size, least_said_.insert(&into);
    else if (said.relation == "<=") into.most = *size;
    else return "has no relation that is known; they are =, %, >= and <=";
    return std::nullopt;
  }

  std::optional<std::string> value_widths(domain_word const& said) {
    if (said.relation != "=") return "has no relation that is known; write dv=d or dv=512";
    if (said.value == "any") return std::nullopt;
    if (said.value == "d") {
      of_.dv = call_domain::value_widths::same;
      return std::nullopt;
    }
    of_.dv = call_domain::value_widths::paired;
    for (std::string_view const part : parted(said.value, ',')) {
      auto const width = size_in(part);
      if (!width) return "lists no widths; write dv=d or dv=512";
      of_.value_width.push_back(*width);
    }
    return std::nullopt;
  }

  std::optional<std::string> bands(domain_word const& said) {
    if (said.relation != "=") return "has no relation that is known; write causal=none,top-left";
    std::ranges::fill(of_.bands, false);
    for (std::string_view const part : parted(said.value, ',')) {
      auto const at = std::ranges::find(forms_of_bands, part);
      if (at == std::end(forms_of_bands))
        return fmt::format("names no form of a band{}; they are {}", did_you_mean(part, forms_of_bands),
                           fmt::join(forms_of_bands, ", "));
      of_.bands[at - std::begin(forms_of_bands)] = true;
    }
    bool& square = of_.bands[static_cast<std::size_t>(band_form::square)];
    square = square || of_.takes(band_form::top_left) || of_.takes(band_form::bottom_right);
    return std::nullopt;
  }

  std::optional<std::string> scale(domain_word const& said) {
    if (said.relation == ">" && said.value == "0") of_.scale = call_domain::scales::positive;
    else if (said.relation == "=" && said.value == "default") of_.scale = call_domain::scales::standard;
    else if (said.relation == "=" && said.value == "stated") of_.scale = call_domain::scales::stated;
    else return "says no set of scales; write scale>0, scale=default or scale=stated";
    return std::nullopt;
  }

  std::optional<std::string> output(domain_word const& said, output_asking& into) {
    if (said.relation == "=" && said.value == "always") into = output_asking::always;
    else if (said.relation == "=" && said.value == "never") into = output_asking::never;
    else return fmt::format("says no rule; write {0}=always or {0}=never", said.axis);
    return std::nullopt;
  }

  std::optional<std::string> needs(domain_word const& said) {
    if (said.relation != "=") return "has no relation that is known; write needs=k_lengths";
    auto const all = needed_inputs::all_names();
    for (std::string_view const part : parted(said.value, ',')) {
      if (!of_.needs.add_named(part))
        return fmt::format("names no input that every call can get{}; they are {}", did_you_mean(part, all),
                           fmt::join(all, ", "));
    }
    return std::nullopt;
  }

  call_domain of_;
  std::set<size_set const*> least_said_;
};

}  // namespace

std::string call_domain::text() const {
  std::vector<std::string> words = words_of("d", d);
  if (dv == value_widths::same) words.emplace_back("dv=d");
  if (dv == value_widths::paired) words.push_back(fmt::format("dv={}", fmt::join(value_width, ",")));
  for (size_axis const& axis : size_axes) {
    if (axis.name == "d" || axis.name == "dv") continue;
    // Of equal lengths the rules of one are the rules of the other.
    bool const is_said = queries != lengths::equal || axis.name != (n.one ? "n" : "m");
    if (is_said)
      for (std::string& one : words_of(axis.name, this->*axis.set)) words.push_back(std::move(one));
    if (axis.name == (queries == lengths::no_more_keys ? "m" : "n") && queries != lengths::any)
      words.push_back(relation_words(*this));
  }
  std::vector<std::string_view> taken;
  bool const is_part = takes(band_form::top_left) || takes(band_form::bottom_right);  // `square`, of either
  for (std::size_t at = 0; at < band_form_count; ++at)
    if (bands[at] && !(is_part && at == static_cast<std::size_t>(band_form::square)))
      taken.push_back(forms_of_bands[at]);
  if (!std::ranges::all_of(bands, std::identity{})) words.push_back(fmt::format("causal={}", fmt::join(taken, ",")));
  if (scale == scales::positive) words.emplace_back("scale>0");
  if (scale == scales::standard) words.emplace_back("scale=default");
  if (scale == scales::stated) words.emplace_back("scale=stated");
  if (!needs.empty()) words.push_back(fmt::format("needs={}", fmt::join(needs.names(), ",")));
  for (std::string& one : words_of(outputs)) words.push_back(std::move(one));
  return fmt::format("{}", fmt::join(words, " "));
}

problem::result<call_domain> call_domain::of_text(std::string_view text) {
  domain_reader reads;
  for (std::string_view const part : parted(text, ' '))
    if (!part.empty())
      if (auto why = reads.read(part)) return *std::move(why);
  auto read = reads.finish();
  if (!read) return read;
  call_domain& domain = read.value();
  if (domain.dv != value_widths::paired) std::ranges::sort(domain.d.listed);
  // Of equal lengths the rules of keys are rules of queries, too.
  if (domain.queries == lengths::equal) {
    bool const one = std::exchange(domain.n.one, false);
    if (domain.n.is_everything()) domain.n = domain.m;
    domain.m = domain.n;
    domain.n.one = one;
  }
  return read;
}

}  // namespace attest::audit
