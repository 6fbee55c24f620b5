// docs/bound.md, sections 3 and 5, of a sink: its numbers. Part of reference/bound/terms.hpp.
#pragma once

#include "reference/real/outward.hpp"

namespace attest::reference {

/// What T2 asks of the sink: E_⊥, |t|, π_⊥ and f from above, t − LSE_K.
struct sink_numbers {
  double E = 0, size = 0, share = 1, left = 1, above_lower = 0, above_upper = 0;
};

/// The numbers of T2 for a row, once its keys alone have been bounded.
struct sink_factor {
  bool asked = false;                       ///< the row has a sink beside keys, and sink_form is not `term`
  bool only = false;                        ///< sink_form is `rescale`: T1 is not asked
  bool judged = false;                      ///< H0 to H5 hold for the keys alone, and the lines of H0 on the sink
  double whole = infinity, off = infinity;  ///< f(1 + Φ), and |f̂ − f| without lost
  double excess = infinity;                 ///< max f̂ − 1
  double lost = 0, absolute = 0;            ///< what f̂ loses by exp and by underflow; (2ω + ω_drop)κ
  double lse = infinity;                    ///< |LSÊ − LSE|
  bool lse_by_theorem = false;
  double hull_lost = infinity, hull_slope = infinity;  ///< H_c of the keys alone is at most lost + slope·max|v_jc|
};

/// Section 3, A sink: M_K⁺ − m and M_K⁻ − m, of the keys alone; max(0, t + E_⊥ − M_K⁻) where a sink may be added at the
/// end, else 0.
struct sink_reach {
  double keys_above = 0, keys_below = -infinity, sink_above = 0;
  bool sink_in_range = true;  ///< H0: the line on a sink
};

}  // namespace attest::reference
