"""Sections 1, 4 and 5 of docs/bound_backward.md for one query row, with 60 decimal digits.

Names are the page's own; E_j is evaluated as docs/bound.md states it. A quantity x comes twice: exactly, and as the
size z_x on which the bound rests.
"""
from decimal import Decimal

from numbers_of_text import INF, ONE, ZERO, exp, gamma, grown, gw, loss, plus, tanh, times


def pairs(numbers):
    return list(zip(numbers[::2], numbers[1::2]))


class row:
    """Sections 1 and 5 of one query row."""

    def __init__(self, p, b, h, i):
        self.p, self.f, self.m = p, p["forward"], p["backward"]
        self.place, self.at = (b, h, i), (b * p.hq + h) * p.n + i
        self.g = h // (p.hq // p.hk)
        self.kappa = 1 / (1 - p["dropout"]) if p["keep"] else ONE
        self.d_o = p.row("d_o", self.at, p.dv)
        self.keys = [j for j in range(p.m) if p.weighted(b, h, i, j)]
        if not self.keys:
            return
        self.sink = bool(p["sink"]) and p["sink"][h].is_finite()
        self.js = self.keys + ([None] if self.sink else [])
        self.scores(h)
        self.exact_numbers()

    def evaluate(self, known):
        """Lemmas 1 to 8, with exact numbers or, where `known` is given, with what the program knows of them."""
        self.take_sizes(known)
        self.weights()
        self.before_product()
        self.products()
        return self

    def scores(self, h):
        p, f = self.p, self.f
        u, w, sigma, c = f["u"], f["omega"], p.sigma, p["softcap"]
        s_ = abs(sigma)
        q = p.row("q", self.at, p.d)
        q1 = sum(map(abs, q), ZERO)
        folds = f["fold_q"] or f["fold_k"]
        s_plus = max(ONE, s_) if folds else s_
        other = max(ONE, s_.sqrt())
        f_q, f_k = (other, other) if f["fold_k"] else (ZERO, ONE if f["fold_q"] else ZERO)
        e_s = plus(gamma(f["k_add"], u), f["u_s"])
        self.s, self.inner_E, self.Ex, self.t, self.slope, self.k, self.v = {}, {}, {}, {}, {}, {}, {}
        for j in self.keys:
            k = self.k[j] = p.row("k", (self.place[0] * p.hk + self.g) * p.m + j, p.d)
            self.v[j] = p.row("v", (self.place[0] * p.hk + self.g) * p.m + j, p.dv)
            x = sigma * sum((a * b for a, b in zip(q, k)), ZERO)
            Q, k1 = sum((abs(a * b) for a, b in zip(q, k)), ZERO), sum(map(abs, k), ZERO)
            S, bias = s_ * Q, p.bias_at(*self.place, j)
            beta = (1 + f["g_b"]) * abs(bias) if f["bias_first"] and c == 0 else ZERO
            E = gamma(f["k_qk_per_d"] * p.d + f["k_qk_base"], f["u_qk"] or u) * (S + beta)
            E += w * (2 * p.d * s_plus + 2 + 2 * Q) + w * (f_q * q1 + f_k * k1)
            E += f["flushes"] * w * (s_ * (q1 + k1) + 1)
            self.Ex[j] = (1 + f["u_s"]) * E + f["u_s"] * S + f["omega_s"]
            self.t[j], self.slope[j], s = ZERO, ONE, x
            if c > 0:
                self.t[j] = tanh(x / c)
                self.slope[j], s = 1 - self.t[j] ** 2, c * self.t[j]
                E = (1 + f["e_c"]) * E + f["e_c"] * min(c, S) + c * f["a_t"] + (1 + c) * w
            self.s[j] = s + bias
            self.inner_E[j] = (1 + e_s) * (E + f["g_b"] * abs(bias)) + f["omega_s"]
        if self.sink:
            t = p["sink"][h]
            beta = (1 + f["g_b"]) * abs(t) if f["bias_first"] and c == 0 else ZERO
            E = gamma(f["k_qk_per_d"] * p.d + f["k_qk_base"], f["u_qk"] or u) * beta
            E += w * (2 * p.d * s_plus + 2) + w * f_q * q1 + f["flushes"] * w * (s_ * q1 + 1)
            if c > 0:
                E = (1 + f["e_c"]) * E + c * f["a_t"] + (1 + c) * w
            E = (1 + e_s) * (E + f["g_b"] * abs(t)) + e_s * abs(t) + f["omega_s"]
            rounded = plus(gamma(f["k_t"], u), f["u_t"]) * abs(t) + f["omega_t"] + 2 * w
            self.s[None], self.slope[None], self.t[None] = t, ONE, ZERO
            self.inner_E[None] = max(E, (1 + f["u_s"]) * rounded + f["u_s"] * abs(t) + f["omega_s"])
        self.e_s = e_s
        top = max(self.s.values())
        self.L = top + sum(((s - top).exp() for s in self.s.values()), ZERO).ln()
        self.exact_pi = {j: (s - self.L).exp() for j, s in self.s.items()}

    def exact_numbers(self):
        """Section 1, in the mode."""
        p = self.p
        o = p.row("o", self.at, p.dv)
        recorded = p["lse"][self.at]
        self.mode_L = recorded if p.mode == 2 else self.L
        self.pi = {j: (s - self.mode_L).exp() for j, s in self.s.items()}
        self.D = {j: ZERO if j is None else self.kappa if p.kept(self.at, j) else ZERO for j in self.js}
        dot = {j: ZERO if j is None else sum((a * b for a, b in zip(self.d_o, self.v[j])), ZERO) for j in self.js}
        size = {j: ZERO if j is None else sum((abs(a * b) for a, b in zip(self.d_o, self.v[j])), ZERO) for j in self.js}
        self.W = {j: self.D[j] * dot[j] for j in self.js}
        self.a = {j: self.D[j] * size[j] for j in self.js}
        self.o = [sum((self.exact_pi[j] * self.D[j] * self.v[j][e] for j in self.keys), ZERO) for e in range(p.dv)]
        self.exact_delta = sum((a * b for a, b in zip(self.d_o, self.o)), ZERO)
        self.delta_of_o = sum((a * b for a, b in zip(self.d_o, o)), ZERO)
        self.delta = self.delta_of_o if p.mode == 2 else self.exact_delta
        alone = len(self.js) == 1 and p.mode != 2
        self.y = {j: ZERO if alone else self.W[j] - self.delta for j in self.js}
        self.dS = {j: self.pi[j] * self.y[j] for j in self.js}
        self.dX = {j: self.dS[j] * self.slope[j] for j in self.js}

    def check(self, known):
        """Each enclosure of the program holds the exact number."""
        exact = {"weight": self.pi, "product": self.W, "y": self.y, "slope": self.slope, "dS": self.dS, "dX": self.dX}
        if self.p["softcap"] > 0:
            exact["tanh"] = self.t
        for name, numbers in exact.items():
            for j, (mid, off) in zip(known["j"], pairs(known[name])):
                assert abs(numbers[j] - mid) <= off, f"{name} of key {j} lies outside its enclosure"
        (L, L_off), (given, given_off), (delta, delta_off) = pairs(known["row"])
        assert abs(self.L - L) <= L_off and abs(self.delta - delta) <= delta_off
        assert self.p.mode == 0 or abs(self.p["lse"][self.at] - given) <= given_off
        for exact_o, (o, off) in zip(self.o, pairs(known["o"])):
            assert abs(exact_o - o) <= off

    def take_sizes(self, known):
        """What the bound rests on: sizes, and the error of an LSE and an output that were handed over."""
        p, mode, recorded = self.p, self.p.mode, self.p["lse"][self.at]
        o = p.row("o", self.at, p.dv)
        B = p["output_bounds"][self.at * p.dv:(self.at + 1) * p.dv]
        self.slope_off = {j: ZERO for j in self.js}
        known_s = dict(zip(known["j"], known["score"])) if known else {j: abs(s) for j, s in self.s.items()}
        self.E = {j: E if j is None else E + self.e_s * known_s[j] for j, E in self.inner_E.items()}
        if known is None:
            self.z_pi, self.z_W, self.z_y, self.z_slope, self.z_t, self.z_dS, self.z_dX = (
                {j: abs(x) for j, x in of.items()}
                for of in (self.pi, self.W, self.y, self.slope, self.t, self.dS, self.dX))
            self.apart = {j: abs(self.s[j] - self.mode_L) for j in self.js}
            self.above = {j: self.s[j] - self.mode_L for j in self.js}
            self.z_L, self.off_L = abs(self.mode_L), abs(recorded - self.L)
            self.z_delta, self.off_delta = abs(self.delta), abs(self.delta_of_o - self.exact_delta)
            self.met = [abs(x) + y for x, y in zip(self.o, B)] if mode == 0 else [abs(x) for x in o]
            return
        of = {name: dict(zip(known["j"], (abs(mid) + off for mid, off in pairs(known[name]))))
              for name in ("weight", "product", "y", "slope", "tanh", "dS", "dX")}
        self.z_pi, self.z_W, self.z_y, self.z_dS, self.z_dX = (of[n] for n in ("weight", "product", "y", "dS", "dX"))
        self.z_slope, self.z_t = ({j: min(ONE, x) for j, x in of[n].items()} for n in ("slope", "tanh"))
        (L, L_off), (given, given_off), (delta, delta_off) = pairs(known["row"])
        between = abs(L - given) + L_off + given_off
        moved, shift = (between, L - given + L_off + given_off) if mode == 2 else (ZERO, ZERO)
        self.apart = {j: known["lse_above_max"] - x + moved for j, x in zip(known["j"], known["x_lower"])}
        self.above = {j: x + shift - known["normaliser_lower"].ln() for j, x in zip(known["j"], known["x_upper"])}
        self.z_L, self.off_L = (abs(given) + given_off if mode == 2 else abs(L) + L_off), between
        summed = sum((abs(a * b) for a, b in zip(self.d_o, o)), ZERO) * (p.dv + 2) * Decimal(2) ** -53
        self.z_delta, self.off_delta = abs(delta) + delta_off, abs(self.delta_of_o - delta) + delta_off + 2 * summed
        self.met = [abs(x) + off + y for (x, off), y in zip(pairs(known["o"]), B)] if mode == 0 else [abs(x) for x in o]
        for j, (pi, pi_off), (g, g_off) in zip(known["j"], pairs(known["weight"]), pairs(known["slope"])):
            self.slope_off[j] = pi_off + (abs(pi) + pi_off) * g_off + self.z_pi[j] * self.z_slope[j] * Decimal(2) ** -46

    def weights(self):
        p, f, m = self.p, self.f, self.m
        u, w, n = f["u"], f["omega"], len(self.js)
        local = p.mode == 2
        lambda_f = p["lse_bounds"][self.at] if p.mode == 0 else ZERO if local else self.off_L
        from_lse, from_saved = p.mode > 0 or m["weights"] != 1, p.mode == 0 and m["weights"] != 0
        self.lam, self.piT, self.zeta, self.A = ZERO, {}, {}, {}
        for j in self.js:
            self.piT[j] = self.zeta[j] = self.A[j] = ZERO
        if from_lse:
            first = m["u_lse"] * self.z_L + (1 + m["u_lse"]) * lambda_f
            self.lam = first + times(gw(m["c_l"], u), self.z_L + first) + 2 * (1 + m["c_l"]) * w
            eps, g = m["eps"] or f["eps"], gw(m["k_x"], u)
            for j in self.js:
                rho = self.apart[j] + self.E[j] + self.lam
                z = self.E[j] + times(g, rho) + loss(eps) + loss(m["u_pd"]) + (m["k_x"] + 1) * w
                reach = rho * (1 + g) + (m["k_x"] + 1) * w
                far, cut = reach > f["far"], reach > min(m["x0"], f["limit"] / 64)
                pi, all_z, off = self.z_pi[j], self.lam + z, self.above[j]
                piT = times(pi, grown(z)) if z < 1 else exp(off + z)
                A = times(pi, grown(all_z)) if all_z < 1 else exp(off + all_z)
                self.zeta[j] = 2 * (1 + m["u_pd"]) * f["omega_w"] * far + m["omega_pd"]
                self.piT[j] = max(piT, pi) if cut else piT
                self.A[j] = (max(A, pi) if cut else A) + self.zeta[j]
        if from_saved:
            for j in self.js:
                C = p["weight_bounds"][self.at * (p.m + 1) + (p.m if j is None else j)]
                error = (1 + m["u_pd"]) * C + m["u_pd"] * self.z_pi[j] + m["omega_pd"]
                self.A[j], self.piT[j] = max(self.A[j], error), max(self.piT[j], error)
        self.growth = exp(self.lam)
        self.P = {j: self.z_pi[j] + self.A[j] for j in self.js}
        self.r, self.n = sum(self.A.values()), n
        if m["one_pass"] and from_saved and not from_lse and not self.sink:
            gamma_L, gamma_W, alpha = p["row_sums"][self.at * 3:self.at * 3 + 3]
            if gamma_L < 1:
                r = (gamma_L + gamma_W) / (1 - gamma_L) + n * (2 * w + alpha)
                r = r * (1 + f["u_out"]) + f["u_out"] + n * f["omega_out"]
                self.r = min(self.r, r * (1 + m["u_pd"]) + m["u_pd"] + n * m["omega_pd"])

    def before_product(self):
        p, f, m = self.p, self.f, self.m
        u, w, F, dv = f["u"], f["omega"], f["flushes"], p.dv
        dropout = p["dropout"] > 0 and bool(p["keep"])
        self.drop = plus(gw(f["k_drop"], u), f["u_drop"], gamma(self.kappa - 1, f["u_rate"])) if dropout else ZERO
        self.kplus = self.kappa * (1 + self.drop)
        self.w_drop = f["omega_drop"] if dropout else ZERO
        dO1 = sum(map(abs, self.d_o), ZERO)
        g_dp = gw(m["k_dp_per_dv"] * dv + m["k_dp_base"], m["u_dp"] or u)
        self.N0 = {}
        for j in self.js:
            self.N0[j] = ZERO
            if j is None or self.D[j] == 0:
                continue
            lost = (4 * dv + 2) * w + times(F * 2 * w, dO1 + sum(map(abs, self.v[j]), ZERO))
            inner = times(plus(g_dp, self.drop), self.a[j]) + self.kplus * lost + bool(p["keep"]) * 2 * w
            inner += self.w_drop * (1 + dO1 + sum(map(abs, self.v[j]), ZERO))
            self.N0[j] = (1 + m["u_dps"]) * inner + m["u_dps"] * self.z_W[j] + m["omega_dps"] * self.kplus
        candidates = []
        if p.mode == 2 or m["delta"] != 1:
            B, met = p["output_bounds"][self.at * dv:(self.at + 1) * dv], self.met
            F_O = ZERO if p.mode == 2 else self.off_delta
            if p.mode == 0:
                F_O = sum((times(abs(x), y) for x, y in zip(self.d_o, B)), ZERO)
            sums = sum((times(abs(x), y) for x, y in zip(self.d_o, met)), ZERO)
            lost = (4 * dv + 2) * w + times(F * 2 * w, dO1 + sum(met))
            candidates.append(F_O + times(gw(dv + m["k_delta"], u), sums) + lost)
        if p.mode != 2 and m["delta"] != 0:
            plain = sum(times(self.A[j], self.z_y[j]) for j in self.js)
            centred = sum(times(times(self.growth, self.piT[j]) + self.zeta[j], self.z_y[j]) for j in self.js)
            met = sum(times(self.P[j], self.z_W[j] + self.N0[j]) for j in self.js)
            e_w = times(gw(self.n + m["k_delta"], u), met) + (4 * self.n + 2) * w
            e_w += times(F * 2 * w, sum(self.z_W[j] + self.N0[j] + self.P[j] for j in self.js))
            inner = sum(times(self.P[j], self.N0[j]) for j in self.js)
            candidates.append(min(plain, centred) + times(self.z_delta, self.r) + inner + e_w)
            self.e_w = e_w
        self.e = (1 + m["u_delta"]) * max(candidates) + m["u_delta"] * self.z_delta + m["omega_delta"]

    def products(self):
        p, f, m = self.p, self.f, self.m
        u, w, c = f["u"], f["omega"], p["softcap"]
        self.N, self.kap = {}, {}
        self.nu_x, self.eS, self.eX = {}, {}, {}
        g_dp = gw(m["k_dp_per_dv"] * p.dv + m["k_dp_base"], m["u_dp"] or u)
        theta, d = plus(gw(m["k_ds"], u), m["u_ds"]), self.z_delta + self.e
        self.theta = theta
        for j in self.js:
            y, pi, g = self.z_y[j], self.z_pi[j], self.z_slope[j]
            N = self.N0[j]
            if m["delta_first"]:
                N += (1 + m["u_dps"]) * times(g_dp, d)
                N += m["u_dps"] * (y + self.e + self.N0[j]) + m["omega_dps"] if m["u_dps"] > 0 else 0
            if m["k_e"] > 0:
                N += times(gw(m["k_e"], u), self.z_W[j] + self.N0[j] + d)
            self.N[j], self.kap[j] = N, ZERO
            if c > 0 and j is not None:
                moved, t = self.Ex[j] / c, self.z_t[j]
                e_t = (1 + f["e_c"]) * moved * min(ONE, g + Decimal("0.77") * moved)
                e_t += f["e_c"] * t + f["a_t"] + 2 * w * (1 + 1 / c)
                self.kap[j] = 2 * t * e_t + e_t ** 2 + gw(m["k_g"], u) * (1 + e_t) ** 2 + 2 * w
            nu = 6 * w * (1 + self.P[j]) + m["omega_ds"]
            self.nu_x[j] = nu * (1 + self.kap[j]) + 2 * w
            q = self.q(j, self.A[j], self.P[j], ONE, ZERO, theta)
            self.eS[j] = times(q, y + self.e) + times(pi + q, N) + times(pi, self.e) + nu
            q = self.q(j, self.A[j], self.P[j], g, self.kap[j], theta)
            self.eX[j] = times(q, y + self.e) + times(pi * g + q, N) + times(pi * g, self.e) + self.nu_x[j]

    def q(self, j, A, P, g, kap, psi):
        return times(times(A, g) + times(P, kap), 1 + psi) + times(psi, self.z_pi[j] * g)

    def term(self, j, A, P, psi):
        g = self.z_slope[j]
        q = self.q(j, A, P, g, self.kap[j], psi)
        return times(q, self.z_y[j] + self.e) + times(self.z_pi[j] * g + q, self.N[j])

    def mean_key(self, k, largest):
        """k_bar_t, and how far the program's may be from it; `largest` is max|k_t| of the group."""
        off = sum((x for j, x in self.slope_off.items() if j is not None), ZERO) * largest
        if not self.m["delta_shared"]:
            return sum(self.z_pi[j] * self.z_slope[j] * abs(k[j]) for j in self.keys), off
        return abs(sum((self.pi[j] * self.slope[j] * k[j] for j in self.keys), ZERO)) + 2 * off, off

    def centred(self, k, off, psi, s_):
        """Form (c) of Lemma 10 at one column."""
        m = self.m
        mean = sum((self.pi[j] * k[j] for j in self.keys), ZERO)
        away = beside = extra = ZERO
        for j in self.js:
            reach, x = self.z_y[j] + self.e, ZERO if j is None else k[j]
            away += times(times(self.A[j], reach) + times(self.P[j], self.N[j]), abs(x - mean) + off)
            beside += times(times(psi, times(self.P[j], reach + self.N[j])), abs(x))
            extra += times(self.P[j], self.N[j] - self.N0[j] if self.N[j] < INF else INF)
        held = self.e_w + extra + times(self.z_delta + self.e, self.r + m["u_delta"]) + m["omega_delta"]
        return times(s_, away + times(self.e, off) + times(abs(mean) + off, held) + beside)
