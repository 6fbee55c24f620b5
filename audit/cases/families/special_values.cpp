// NaN and infinities at every place that a row can read, for rows of every number of keys that leaves a vector a tail.
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// One for each batch entry.
double const specials[]{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};

/// The heads of a problem: each has the special value at another place of Q, K or V.
enum head : std::int64_t {
  one_of_a_query,
  whole_query,
  every_query,
  one_of_a_key,
  whole_key,
  every_key,
  one_value,
  every_value,
  head_count
};

/// The place of the special value: its query and its key, for heads that have it in one row.
struct place {
  std::int64_t query = 0, key = 0;
};

void put(problem_draft& draft, place const& at) {
  std::int64_t const m = draft.k.layout.shape[2], d = draft.k.layout.shape[3];
  for (std::int64_t b = 0; b < std::ssize(specials); ++b) {
    double const x = specials[b];
    auto const set = [&](owned_tensor& t, head h, std::int64_t i, std::int64_t c) {
      store(t, offset_of(t, b, h, i, c), x);
    };
    set(draft.q, one_of_a_query, at.query, d - 1);
    set(draft.k, one_of_a_key, at.key, d - 1);
    set(draft.v, one_value, at.key, 2);
    for (std::int64_t c = 0; c < d; ++c) {
      set(draft.q, whole_query, at.query, c);
      set(draft.k, whole_key, at.key, c);
      for (std::int64_t i = 0; i < m; ++i)
        set(draft.q, every_query, i, c), set(draft.k, every_key, i, c), set(draft.v, every_value, i, c);
    }
  }
}

/// The special value in the bias: of one key for one query, of a query, of a key, of all.
void put_in_bias(problem_draft& draft, place const& at, random_stream& random) {
  std::int64_t const m = draft.k.layout.shape[2];
  add_bias(draft, std::ssize(specials), 4, m, m, [&](auto b, auto h, auto i, auto j) {
    bool const query = i == at.query, key = j == at.key;
    bool const special = h == 0 ? query && key : h == 1 ? query : h == 2 ? key : true;
    double const ordinary = random.normal();
    return special ? specials[b] : ordinary;
  });
}

}  // namespace

/// Every number of keys up to 17, hence every tail of vectors of 2 to 16 elements, and the numbers around 32 and 64.
/// Under causal, query i sees keys 0 … i, so one problem has rows of every number of keys. There the special key is the
/// first; in another problem it is drawn.
void add_special_values(case_list& to) {
  bool const quick = to.options().quick;
  auto const problem_of = [&](std::int64_t m, random_stream& random) {
    return gaussian({std::ssize(specials), head_count, head_count, m, m, 8, 8}, to.type(), random);
  };
  for (std::int64_t const m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 40, 64, 65}) {
    if (quick && m != 1 && m != 7 && m != 16 && m != 33) continue;
    std::string const name = fmt::format("keys{}", m);
    auto random = to.random("special-values", name);
    problem_draft draft = problem_of(m, random);
    put(draft, {.query = random.below(m), .key = m - 1});
    to.add("special-values", name, std::move(draft));
    if (m > 9 && m != 17 && m != 33) continue;
    draft = gaussian({std::ssize(specials), 4, 4, m, m, 8, 8}, to.type(), random);
    put_in_bias(draft, {.query = random.below(m), .key = random.below(m)}, random);
    to.add("special-values", fmt::format("bias-keys{}", m), std::move(draft));
  }
  std::int64_t const m = quick ? 33 : 65;
  for (bool const first : {true, false}) {
    std::string const name = fmt::format("causal-{}-key-of-{}", first ? "first" : "drawn", m);
    auto random = to.random("special-values", name);
    problem_draft draft = problem_of(m, random);
    draft.band = {0, -1, 0};
    put(draft, {.query = first ? m - 1 : random.below(m), .key = first ? 0 : random.below(m)});
    to.add("special-values", name, std::move(draft));
  }
}

}  // namespace attest::audit
