"""docs/bound.md, section 3, written down from the text alone: merges by LSE without a division, and by a sigmoid.
`e` is an evaluation (bound_text.py)."""
from decimal import Decimal

from bound_text_numbers import FOUR_THIRDS, HALF, INF, ONE, ZERO, gamma, log1p, times

EIGHTH, SIXTEENTH = ONE / 8, ONE / 16


def is_by_sigmoid(model):
    return model["merge"] in ("sigmoid", "logsigmoid")


def sigmoids(e):
    """mu_sigma: merges on the way of a key."""
    return min(e.mu, e.n - 1) if e.m["parts_are_keys"] else e.mu


def cut(e):
    """e^-x0"""
    return e.exp(-e.m["x0"]) if e.m["x0"] < INF else ZERO


def relative_of_exp(e):
    """gamma of k_x, and eps/(1 - eps) as sigmoids have them, although a merge of given parts has no exp of a score."""
    eps = e.m["eps"]
    return gamma(e.m["k_x"], e.u), eps / (1 - eps) if e.stated else -log1p(-eps)


def xi_of_merge(e, key):
    """Xi_j"""
    m, u = e.m, e.u
    gamma_x, eps_hat = relative_of_exp(e)
    xi = gamma(m["k_lse"], u) * (key.Y + e.ell + key.kappa) + gamma(1, u)
    xi += Decimal("0.3") * gamma_x + Decimal("0.55") * eps_hat
    xi += Decimal("0.73") * m["eps_log"] + m["omega_log"] + cut(e)
    if m["merge"] == "logsigmoid":
        xi += gamma(m["k_x"] + m["k_lse"], u) * 2 * max(one.Y + e.ell + one.kappa for one in e.keys)
    return e.up(xi)


def mu_of(e, key):
    """What z_j gains by merges: of levels that divide, or of sigmoids."""
    if not e.by_lse:
        return ZERO
    if not e.by_sigmoid:
        rest = 1 - e.mu * gamma(max(e.m["k_lse"], 2), e.u)
        return e.mu * e.up(key.xi + e.eps_hat) / rest if rest > 0 else INF
    own = ZERO if e.m["parts_are_keys"] else e.up(key.xi + e.eps_hat)
    return own + max(0, sigmoids(e) - 1) * xi_of_merge(e, key)


def sigma(e):
    """E_sigma, and 8 mu omega."""
    if not e.by_sigmoid:
        return ZERO, ZERO
    m, u = e.m, e.u
    gamma_x, eps_hat = relative_of_exp(e)
    one = Decimal("2.2") * (eps_hat / 4 + Decimal("0.224") * gamma_x + gamma(m["k_f"] + 3, u) + cut(e)) + u
    x = sigmoids(e) * e.up(one + 4 * m["format.omega_w"])
    if x > EIGHTH:
        return INF, ZERO
    states = gamma(e.states, m["u_state"])
    merged = x / (1 - x)
    return e.up(merged + states + times(merged, states)), e.up(8 * sigmoids(e) * e.omega)


def weights(e):
    """Gamma_sigma of returned weights, and what underflow takes from one."""
    if not e.by_sigmoid:
        return ZERO, ZERO
    m, u = e.m, e.u
    gamma_x, eps_hat = relative_of_exp(e)
    one = Decimal("1.04") * (eps_hat + Decimal("0.28") * gamma_x) + gamma(m["k_f"] + 2, u) + cut(e)
    X_plus = max((key.X for key in e.keys if not key.far), default=ZERO)
    xi = max(xi_of_merge(e, key) for key in e.keys if key.in_L)
    xi += gamma(m["c_m"], u) * (1 + e.gamma_x) * e.ell
    w = e.up(sigmoids(e) * one + Decimal("1.04") * gamma_x * X_plus + xi)
    return INF if w > HALF else e.up(w / (1 - w)), e.up(2 * sigmoids(e) * e.omega)


def is_sharp(e):
    """H4 of merges by a sigmoid."""
    K = e.m["format.far"] + e.ln(1 / e.u) + 2
    gamma_x, eps_hat = relative_of_exp(e)
    return not e.by_sigmoid or e.sigma < INF and eps_hat + gamma_x * K <= SIXTEENTH


def without_division(e, mu):
    """Section 3, Sums, lse_normalised: the term of Phi_c, and Gamma_C."""
    m, u, parts = e.m, e.u, min(e.S, e.n)
    K = m["format.far"] + e.ln(1 / u) + 2
    X_plus = max((key.X for key in e.keys if not key.far), default=ZERO)
    combine = m["eps"] + m["k_x"] * min(K, X_plus) * u
    xi_L = max(key.xi + gamma(max(m["k_lse"], 2), u) * key.mu for key in e.keys if key.in_L)
    xi = mu * e.up(combine + gamma(parts - 1, u) + xi_L + parts * cut(e))
    return e.up(Decimal("1.01") * mu * combine), e.up(xi / (1 - xi)) if xi < 1 else INF


def largest_part(e, largest, total):
    """What the result of a part, or a state, is in size at most; `total` is the sum of the |v_jc|."""
    m, wide = e.m, (1 + e.u_p) * (1 + e.gamma_h) * (1 + e.wide) - 1 + times(e.combine, 1 + e.wide)
    least = e.up(2 * max(ONE, (e.g_plus - HALF).exp()) / e.kept)        # 1/Lambda+
    of_sums = e.lossy
    gamma_L = e.up(gamma(e.h_L + e.R + e.s, e.u) + 4 * of_sums * e.omega * least)
    gamma_L = e.up(gamma_L + e.gamma_C + times(gamma_L, e.gamma_C))
    if gamma_L >= 1:
        return INF
    growth = e.up((1 + e.gamma_F) * (wide + gamma_L + e.gamma_F) / (1 - gamma_L))
    lost = (4 * of_sums * e.omega * least + FOUR_THIRDS * (e.states * m["omega_state"]
                                                           + e.lost_dropped) * e.least_sum * least)
    beside = FOUR_THIRDS * ((e.omega if m["k_pre"] else ZERO) + (m["omega_p"] + e.lost_dropped) * least)
    return e.up(times(1 + growth, largest) + lost * (1 + e.gamma_states) + beside * total + 2 * e.omega)


def added(e, largest, total):
    """What merges add to B_c or to Clause H: E_sigma*V'_c + 8*mu_sigma*omega."""
    return e.up(times(e.sigma, largest_part(e, largest, total)) + e.lost_when_mixed) if e.by_sigmoid else ZERO
