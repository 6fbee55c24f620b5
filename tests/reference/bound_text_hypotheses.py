"""docs/bound.md, section 2, written down from the text alone: the hypotheses about the numbers of a row. `e` is an
evaluation (bound_text.py)."""
from decimal import Decimal

from bound_text_merges import is_sharp
from bound_text_numbers import HALF, INF, ONE


def failures(e):
    """The lines of H0, H4 and H5 that the row fails. e.range_of_sum is found with them."""
    m, f, u, n = e.m, e.f, e.u, e.n
    limit, sigma = m["format.h0_limit"], f["scale_upper"]
    e.range_of_sum = e.up(n * e.exp(m["tau"] + e.g_plus))
    largest_norm = max([key.norm for key in e.keys] + [f["lost_norm"]])
    h0 = [
        sigma < limit,
        not (m["fold_q"] or m["fold_k"]) or m["folded_overflow"] == "survived" or
        max(f["query_norm"], largest_norm) * max(ONE, sigma) < limit,
        all(max(key.Q, key.S) < limit for key in e.keys) and f["lost_upper"] < limit and f["finite_products"],
        all(abs(key.bias) < limit or key.high < -limit / 4 for key in e.keys),
        not f["softcap"] or m["format.omega_w"] / 2 <= f["softcap"] < limit,
        all(key.far or key.s + key.E < m["s_limit"] for key in e.keys) and e.largest_max < m["s_limit"],
        e.max_below > -limit / 8, m["c_m"] < 1 or e.g_plus <= e.limit, e.range_of_sum < limit,
        e.exp(m["tau"] + e.g_plus) * f["kept_factor"] < m["p_limit"],
        not e.beyond_limit,
    ]
    additions = 2 * max(e.h, e.h_L) + e.R + e.S + e.divisions + 8
    h4 = [
        e.R * e.eps_r + 2 * additions * u <= Decimal("0.25") / e.slack,
        e.gamma_L < 1, m["k_pre"] + 2 * m["k_f"] <= 15,
        m["c_m"] < 1 or m["eps"] <= Decimal("0.125"),
        e.n_far * e.far_share <= HALF,
        not e.by_lse or e.mu_of_L <= HALF,
        e.states * m["u_state"] <= HALF,
        m["normalise"] != "lse" or not (e.states or e.lost_dropped or e.by_sigmoid),
        m["normalise"] != "first_pass" or not (e.by_sigmoid or e.states and m["state_limit"] < INF),
        is_sharp(e),
    ]
    h5 = m["large_scores"] == "stable" or all(
        not key.under_bias or key.kappa <= e.limit or abs(key.bias) <= m["mask_limit"] for key in e.keys)
    failed = [f"H0.{at}" for at, line in enumerate(h0) if not line]
    failed += [f"H4.{at}" for at, line in enumerate(h4) if not line] + ([] if h5 else ["H5"])
    return failed
