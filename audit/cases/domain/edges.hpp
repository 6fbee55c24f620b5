// The edges of a domain: its smallest, next and large sizes, each head size, and each feature at each head size.
#pragma once

#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/drawn.hpp"

namespace attest::audit {

inline constexpr std::string_view check_of_edges = "edges";

struct edge_form {
  std::string name;  ///< "d64-n128-m128-causal-pointed"
  call_form form;
};

/// Calls with 1, 2, 3, 5 and 8 granules of queries and keys, plain and causal, for up to six head sizes. Some have
/// fewer queries than keys, and some more, if the domain has such calls. Then each feature at each of these head sizes,
/// with several blocks of keys. Of a domain that is everything: typical_forms(), as other checks ask about its
/// sizes. Where all lengths are taken, also n of each residue mod 64 and m of each residue mod 128.
std::vector<edge_form> edge_forms(call_domain const& domain);

/// The case "edges/NAME". A call of more than limits.judged_products is judged by a sample of its rows.
audit_case edge_case(edge_form const& edge, problem::element_type type, std::uint64_t seed, shape_limits const& limits);

}  // namespace attest::audit
