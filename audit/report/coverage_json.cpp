#include "audit/report/coverage_json.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

json met_json(combination_counts const& counts) {
  auto const one = [](met_count const& count) { return json{{"met", count.met}, {"of", count.of}}; };
  return {{"pairs", one(counts.pairs)}, {"triples", one(counts.triples)}};
}

json class_names(shape_axis axis) {
  json names = json::array();
  for (std::size_t at = 0; at < row_of(axis).classes; ++at) names.push_back(class_name(row_of(axis), at));
  return names;
}

/// {"rows": {axis: [classes]}, "columns", "calls": [[counts of a row]]}; without columns "calls" is [counts].
json map_json(shape_map const& map, std::vector<std::int64_t> const& cells) {
  json written{{"rows", {{row_of(map.rows).name, class_names(map.rows)}}}};
  if (!map.columns) {
    written["calls"] = cells;
    return written;
  }
  written["columns"] = {{row_of(*map.columns).name, class_names(*map.columns)}};
  written["calls"] = json::array();
  for (std::size_t row = 0; row < map.row_count(); ++row) {
    auto const begin = cells.begin() + static_cast<std::ptrdiff_t>(row * map.column_count());
    written["calls"].push_back(std::vector(begin, begin + static_cast<std::ptrdiff_t>(map.column_count())));
  }
  return written;
}

json count_json(reply_count const& count) { return {{"asked", count.asked}, {"answered", count.answered}}; }

/// [{"features": one or two, "asked", "answered", "without_others": {"asked", "answered"}}], of what was asked.
json support_json(coverage const& of) {
  json all = json::array();
  for (feature_row const& b : feature_table())
    for (feature_row const& a : feature_table().first(static_cast<std::size_t>(b.id) + 1)) {
      feature_support const& support = of.support(a.id, b.id);
      if (support.any.asked == 0) continue;
      json row{{"features", a.id == b.id ? json::array({a.name}) : json::array({a.name, b.name})}};
      row.update(count_json(support.any));
      row["without_others"] = count_json(support.only);
      all.push_back(std::move(row));
    }
  return all;
}

reply_count count_in(report_object const& from) {
  reply_count const count{from.count("asked"), from.count("answered")};
  if (count.answered > count.asked) throw report_fault{"'coverage' has more answers than questions"};
  return count;
}

/// The features that a row of "support" names.
std::pair<feature, feature> features_in(report_object const& from) {
  auto const names = from.texts("features");
  std::vector<feature> found;
  for (std::string const& name : names)
    if (auto const row = std::ranges::find(feature_table(), name, &feature_row::name); row != feature_table().end())
      found.push_back(row->id);
  if (found.size() != names.size() || found.empty() || found.size() > 2 || (found.size() == 2 && found[0] == found[1]))
    throw report_fault{"'features' in 'support' is not one known feature, nor two"};
  return {found.front(), found.back()};
}

void read_map(json const& from, shape_map const& map, std::vector<std::int64_t>& into) {
  report_object const written(from, "'map'");
  std::vector<std::int64_t> cells;
  if (!map.columns) cells = written.counts("calls");
  else
    for (json const& line : written.list("calls")) {
      json row;
      row["calls"] = line;
      auto const counts = report_object(row, "'map'").counts("calls");
      if (counts.size() != map.column_count()) throw report_fault{"a row of 'map' has the wrong number of counts"};
      cells.insert(cells.end(), counts.begin(), counts.end());
    }
  if (cells.size() != into.size()) throw report_fault{"'calls' in 'map' has the wrong number of counts"};
  into = std::move(cells);
}

/// The value of a lower-case hexadecimal digit; 16 for another character.
unsigned digit(char const c) {
  return c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
         : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                : 16;
}

void read_triples(report_object const& shard, coverage& into) {
  json const& found = shard.at("covered_triples");
  std::string const text = found.is_string() ? found.get<std::string>() : "";
  bool fits = text.size() == (coverage::triple_count + 3) / 4;
  for (std::size_t at = 0; fits && at < text.size(); ++at) {
    unsigned const bits = digit(text[at]);
    fits = bits < 16;
    for (std::size_t bit = 0; fits && bit < 4; ++bit)
      if (bits >> bit & 1U) {
        fits = 4 * at + bit < coverage::triple_count;
        if (fits) into.triples.set(4 * at + bit);
      }
  }
  if (!fits) throw report_fault{"'covered_triples' in 'shard' is not a hexadecimal digit for every four triples"};
}

}  // namespace

json coverage_json(report const& kernel_report) {
  coverage const& of = kernel_report.covered;
  if (!has_coverage(kernel_report)) return nullptr;
  combinations const met = of.met();
  json maps = json::array();
  for (std::size_t at = 0; at < shape_maps.size(); ++at) maps.push_back(map_json(shape_maps[at], of.maps[at]));
  return {{"calls", count_json(of.calls)},
          {"lse", count_json(of.lse)},
          {"weights", count_json(of.weights)},
          {"elements", {{"judged", of.elements_judged}, {"existing", of.elements_existing}}},
          {"draws",
           {{"made", kernel_report.draws}, {"answered", of.draws_answered}, {"products", kernel_report.draw_products}}},
          {"features", met_json(met.features)},
          {"shapes", met_json(met.shapes)},
          {"features_and_shapes", met_json(met.mixed)},
          {"map", std::move(maps)},
          {"support", support_json(of)}};
}

std::string triples_text(coverage const& of) {
  std::string text;
  for (std::size_t at = 0; at < coverage::triple_count; at += 4) {
    unsigned bits = 0;
    for (std::size_t bit = 0; bit < 4 && at + bit < coverage::triple_count; ++bit)
      bits |= static_cast<unsigned>(of.triples[at + bit]) << bit;
    text += "0123456789abcdef"[bits];
  }
  return text;
}

void read_coverage(report_object const& top, report_object const& shard, report& into) {
  if (top.at("coverage").is_null()) return;
  report_object const written = top.inside("coverage");
  coverage& of = into.covered;
  of.calls = count_in(written.inside("calls"));
  of.lse = count_in(written.inside("lse")), of.weights = count_in(written.inside("weights"));
  report_object const elements = written.inside("elements"), draws = written.inside("draws");
  of.elements_judged = elements.count("judged"), of.elements_existing = elements.count("existing");
  if (of.elements_judged > of.elements_existing) throw report_fault{"'elements' judged are more than 'existing'"};
  into.draws = draws.count("made"), of.draws_answered = draws.count("answered");
  into.draw_products = draws.count("products");
  if (of.draws_answered > into.draws) throw report_fault{"'draws' answered are more than 'made'"};
  json const& maps = written.list("map");
  if (maps.size() != shape_maps.size()) throw report_fault{"'map' has the wrong number of maps"};
  for (std::size_t at = 0; at < shape_maps.size(); ++at) read_map(maps[at], shape_maps[at], of.maps[at]);
  for (json const& item : written.list("support")) {
    report_object const row(item, "'support'");
    auto const [a, b] = features_in(row);
    feature_support& support = of.supports[coverage::support_index(a, b)];
    if (support != feature_support{}) throw report_fault{"'support' has the same features twice"};
    support = {count_in(row), count_in(row.inside("without_others"))};
  }
  read_triples(shard, of);
}

}  // namespace attest::audit
