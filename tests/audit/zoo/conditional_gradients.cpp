// Backward passes that are wrong under a condition which no small call meets: drawn and production shapes find them.
#include "audit/zoo/backward/kernel.hpp"

namespace attest::zoo {

bool register_specimen(specimen const&) { return true; }  // they are no kernels of the zoo

}  // namespace attest::zoo

ATTEST_BACKWARD(right_everywhere, no_bug, "", ""){};

ATTEST_BACKWARD(dq_without_a_key_beyond_1152, bug_class::gradient, "", ""){
    static bool in_dq(backward_place<F> const& at, std::int64_t j){return at.size().m <= 1152 || j != 517;
}
}
;

ATTEST_BACKWARD(dk_of_one_head_if_grouped_and_causal, bug_class::gradient, "", ""){
    static bool adds_head(backward_place<F> const& at){std::int64_t const group = at.size().hq / at.size().hk;
return at.p.band().right < 0 || at.size().n <= 500 || at.h % group == 0;
}
}
;

ATTEST_BACKWARD(delta_of_next_row_of_many, bug_class::gradient, "",
                ""){static backward_place<F> delta_place(backward_place<F> at){
    if (at.size().n > 1152 && at.i + 1 < at.p.queries(at.b))++ at.i;
return at;
}
}
;

ATTEST_BACKWARD(queries_behind_256_are_lost_with_wide_values, bug_class::gradient, "", ""){
    static bool in_dkv(backward_place<F> const& at, std::int64_t){return at.size().dv <= 130 || at.i < 256;
}
}
;

ATTEST_BACKWARD(last_of_many_queries_is_lost_if_dq_is_not_asked, bug_class::gradient, "",
                ""){static bool in_dkv(backward_place<F> const& at, std::int64_t){
    return at.views.dq.present || at.i + 1 < at.p.queries(at.b) || at.size().n <= 64;
}
}
;

ATTEST_BACKWARD(strides_of_o_for_do_of_many_queries, bug_class::gradient, "",
                ""){static F const * d_out(backward_place<F> const& at){auto read = at.p.d_out();
if (at.size().n > 96) read.stride = at.views.o.stride;
return read.row(at.b, at.h, at.i);
}
}
;

ATTEST_BACKWARD(tiny_do_is_flushed, bug_class::gradient, "", ""){
    static F product(F const* d_o, F const* v, std::int64_t dv){F const sum = honest_backward<F>::product(d_o, v, dv);
return std::abs(sum) < F(1e-4) && std::abs(sum) > 0 && dv > 24 ? F(0) : sum;
}
}
;
