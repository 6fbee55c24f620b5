#include "audit/report/report.hpp"

namespace attest::audit {

judgement report::total() const {
  judgement sum;
  for (check_result const& row : checks) sum.merge(judgement(row.sum));
  return sum;
}

}  // namespace attest::audit
