// Weights as pictures: the terminal picture of the documents for any weights, and a real encoder's, head by head.
//
// Source: Scaled Dot-Product Attention, "Visualization". The tensors come from all-MiniLM-L6-v2 (NOTICE), layer 5.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <variant>

#include <nlohmann/json.hpp>

#include "audit/files/problem_file.hpp"
#include "audit/support/printable.hpp"
#include "examples/support/experiment.hpp"
#include "examples/support/random.hpp"

namespace attest::examples {
namespace {

/// A weight in at most three characters: two places, without the zero before the point and those at the end.
std::string short_weight(double weight) {
  long const hundredths = std::lround(100 * weight);
  if (hundredths % 100 == 0) return fmt::format("{}", hundredths / 100);
  return hundredths % 10 == 0 ? fmt::format(".{}", hundredths / 10) : fmt::format(".{:02}", hundredths);
}

/// The rows of the documents' picture. Requires weights from 0 to 1, as many in each row
std::vector<std::string> picture(std::vector<std::vector<double>> const& A) {
  std::vector<std::string> lines;
  for (auto const& row : A) {
    std::string line = "│ ";
    for (double const weight : row) line += fmt::format("{:3}", short_weight(weight));
    lines.push_back(line + "│");
  }
  return lines;
}

void draw_in_terminal(experiment& e) {
  e.section("1. The documents' picture: each row says where its query attends");
  std::vector<std::vector<double>> const printed{
      {.8, .1, .05, .05}, {.1, .7, .1, .1}, {.2, .2, .4, .2}, {.1, .1, .2, .6}};
  for (std::string const& line : picture(printed)) fmt::print("  {}\n", line);
  e.check(picture(printed) ==
              std::vector<std::string>{"│ .8 .1 .05.05│", "│ .1 .7 .1 .1 │", "│ .2 .2 .4 .2 │", "│ .1 .1 .2 .6 │"},
          "these are the documents' rows, character by character");
  bool sums = true;
  for (auto const& row : printed) {
    long hundredths = 0;
    for (double const weight : row) hundredths += std::lround(100 * weight);
    sums = sums && hundredths == 100;
  }
  e.check(sums, "\"sums to 1\": every printed row does, exactly");

  e.section("2. The same for any weights: four queries and keys of 16 draws of N(0, 1)");
  normal_draws random(1);
  auto const Q = random.normals(64), K = random.normals(64), V = random.normals(4);
  auto const exact = certify(attention_problem(Q, K, V, 4, 4, 16, 1));
  std::vector<std::vector<double>> A;
  for (std::int64_t i = 0; i < 4; ++i) A.push_back(nearly(exact.A.row(i)));
  for (std::string const& line : picture(A)) fmt::print("  {}\n", line);
}

/// The recorded layer, and its tokens by sentence.
struct recorded_layer {
  audit::owned_problem problem;
  std::vector<std::vector<std::string>> tokens;
};
recorded_layer read_layer(std::string_view prefix) {
  auto const file = audit::read_safetensors(ATTEST_EXAMPLES_DATA "/minilm_attention.safetensors");
  if (!file) throw std::runtime_error(audit::printable(file.why().argument + ": " + file.why().reason));
  auto recorded = audit::problem_file_of(file.value());
  if (!recorded) throw std::runtime_error(audit::printable(recorded.why().argument + ": " + recorded.why().reason));
  for (audit::problem_file_entry& entry : recorded.value().problems)
    if (entry.prefix == prefix)
      return {std::move(entry.problem),
              nlohmann::json::parse(file.value().metadata.at("tokens")).get<std::vector<std::vector<std::string>>>()};
  throw std::runtime_error(fmt::format("the file has no {}", prefix));
}

/// Labels of an axis. gnuplot would run what stands between backquotes, and ends a text at a quote: such tokens are
/// refused.
std::string tics(std::vector<std::string> const& tokens) {
  std::string text;
  for (std::string const& token : tokens)
    if (!audit::is_printable(token) || token.find_first_of("\"\\`") != std::string::npos)
      throw std::runtime_error("a token of the file cannot be drawn: " + audit::printable(token));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    text += fmt::format("{}\"{}\" {}", text.empty() ? "" : ", ", tokens[i], i);
  return text;
}

constexpr std::string_view heatmap = R"gp(set palette defined (0 "#ffffff", 1 "#0072B2")
set cbrange [0:1]
unset colorbox
unset key
unset grid
set border 15
set tics scale 0
set size ratio -1
set xlabel "key"
set ylabel "query"
)gp";

void draw_encoder(experiment& e) {
  e.section("3. A sentence encoder's last layer, sentence 1: five tokens, then padding that its mask hides");
  recorded_layer const layer = read_layer("layer5");
  auto const& problem = std::get<problem::instance<float>>(layer.problem.instance());
  auto const& size = problem.size();
  std::int64_t words = 0;
  while (words < size.m && layer.tokens.at(0).at(static_cast<std::size_t>(words)) != "[PAD]") ++words;
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(words * words));
  bool hidden = true, sums = true;
  std::vector<std::string> columns{"key", "query"};
  for (std::int64_t head = 0; head < size.hq; ++head) {
    auto const exact = certify(problem, 0, head);
    columns.push_back(fmt::format("head {}", head + 1));
    for (std::int64_t i = 0; i < words; ++i) {
      number sum{};
      for (std::int64_t j = 0; j < size.m; ++j) {
        number const& weight = exact.A(i, j);
        if (j >= words) hidden = hidden && weight.is_exact() && nearly(weight) == 0;
        sum = sum + weight;
        if (j >= words) continue;
        auto& row = rows[static_cast<std::size_t>(i * words + j)];
        if (row.empty()) row = {static_cast<double>(j), static_cast<double>(i)};
        row.push_back(nearly(weight));
      }
      sums = sums && reference::overlap(sum, number(1));
    }
  }
  e.check(words == 5 && hidden, "the 57 keys of padding have weight 0, exactly, for all 12 heads");
  e.check(sums, "every row sums to 1, to 30 digits");
  std::vector<std::string> const shown(layer.tokens[0].begin(), layer.tokens[0].begin() + words);
  e.table("visualise_heads", columns, rows);
  e.figure(
      "visualise_heads",
      fmt::format("set multiplot layout 3,4 title \"Twelve heads share the weight of the same five tokens in twelve "
                  "ways (layer 5 of all-MiniLM-L6-v2)\"\n{}set tics font \",9\"\nset xtics rotate by -40 ({})\n"
                  "set ytics ({})\nset xrange [-0.5:4.5]\nset yrange [4.5:-0.5]\nset xlabel \"\"\nset ylabel \"\"\n"
                  "do for [h=1:12] {{\n  set title sprintf(\"head %d: query (row), key\", h) font \",11\"\n"
                  "  plot \"visualise_heads.csv\" using 1:2:h+2 with image pixels, \"\" using "
                  "1:2:(sprintf(\"%.2f\", column(h+2))):(column(h+2) > 0.6 ? 0xffffff : 0) with labels font "
                  "\",8\" tc rgb variable\n}}\nunset multiplot\n",
                  heatmap, tics(shown), tics(shown)),
      {1000, 840});

  e.section("4. Sentence 2, 62 tokens: the head with the least mean entropy");
  double least = std::numeric_limits<double>::infinity();
  std::int64_t chosen = 0;
  certified_attention focused;
  bool in_range = true;
  for (std::int64_t head = 0; head < size.hq; ++head) {
    auto exact = certify(problem, 1, head);
    double mean = 0;
    for (number const& entropy : exact.entropy) {
      mean += nearly(entropy) / static_cast<double>(size.n);
      in_range =
          in_range && reference::certain_sign(entropy) >= 0 && nearly(entropy) <= std::log(static_cast<double>(size.m));
    }
    fmt::print("  head {:2}: {:.3f} nats\n", head + 1, mean);
    if (mean < least) least = mean, chosen = head, focused = std::move(exact);
  }
  e.check(in_range, "every entropy is between 0 and ln 62 = 4.127, that of equal weights");
  bool first_leads = true;
  for (std::int64_t i = 0; i < size.n; ++i)
    for (std::int64_t j = 1; j < size.m; ++j)
      first_leads = first_leads && reference::certain_sign(focused.A(i, 0) - focused.A(i, j)) > 0;
  e.check(first_leads, fmt::format("each of the 62 queries gives its largest weight to {}", layer.tokens.at(1).at(0)));
  std::vector<std::vector<double>> cells;
  for (std::int64_t i = 0; i < size.n; ++i)
    for (std::int64_t j = 0; j < size.m; ++j)
      cells.push_back({static_cast<double>(j), static_cast<double>(i), nearly(focused.A(i, j))});
  e.table("visualise_sentence", {"key", "query", "weight"}, cells);
  e.figure("visualise_sentence",
           fmt::format("{}set title \"Head {} is the most focused of layer 5, and every query looks at [CLS] most"
                       "\"\nset colorbox\nset cblabel \"weight\"\nset tics font \",8\"\nset xtics rotate by 90 "
                       "right ({})\nset ytics ({})\nset xrange [-0.5:61.5]\nset yrange [61.5:-0.5]\n"
                       "plot \"visualise_sentence.csv\" using 1:2:3 with image pixels\n",
                       heatmap, chosen + 1, tics(layer.tokens.at(1)), tics(layer.tokens.at(1))),
           {960, 920});
}

}  // namespace
}  // namespace attest::examples

int main(int argc, char** argv) {
  return attest::examples::run(argc, argv, "Weights as pictures: in the terminal, and a real encoder's heads",
                               [](attest::examples::experiment& e) {
                                 attest::examples::draw_in_terminal(e);
                                 attest::examples::draw_encoder(e);
                               });
}
