"""docs/bound_backward.md, evaluated from its text with 60 decimal digits, beside the bounds of reference/gradient/.

usage: bound_from_text.py PROGRAM COUNT SEED    PROGRAM: gradient_bound_rows

Names are the page's own; E_j is evaluated as docs/bound.md states it. Every bound must be at least the text's, and at
most 2^-15 more: the machine tier knows L within 2^-40, which counts beside an error of L of 2^-24. Beside a softcap it
is 2^-6: the slope is known within some 2^-51, and may be as small. Seed 1 keeps that; other seeds draw gradients that
cancel to 1e-9 and less, whose bounds are wider (up to 5 times) and still bounds.
"""
import json
import subprocess
import sys
from decimal import Decimal

from numbers_of_text import INF, ONE, ZERO, exp, gamma, grown, gw, loss, plus, read, tanh, times


class row:
    """Sections 1 and 5 of one query row."""

    def __init__(self, p, b, h, i, counts):
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
        self.weights()
        self.before_product()
        self.products()

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
        self.s, self.E, self.Ex, self.t, self.slope, self.k, self.v = {}, {}, {}, {}, {}, {}, {}
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
            self.E[j] = (1 + e_s) * (E + f["g_b"] * abs(bias)) + e_s * abs(self.s[j]) + f["omega_s"]
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
            self.E[None] = max(E, (1 + f["u_s"]) * rounded + f["u_s"] * abs(t) + f["omega_s"])
        top = max(self.s.values())
        self.L = top + sum(((s - top).exp() for s in self.s.values()), ZERO).ln()
        self.exact_pi = {j: (s - self.L).exp() for j, s in self.s.items()}

    def weights(self):
        p, f, m = self.p, self.f, self.m
        u, w, n = f["u"], f["omega"], len(self.js)
        recorded, local = p["lse"][self.at], p.mode == 2
        L = recorded if local else self.L
        self.pi = {j: (s - L).exp() for j, s in self.s.items()}
        lambda_f = p["lse_bounds"][self.at] if p.mode == 0 else ZERO if local else abs(recorded - self.L)
        from_lse, from_saved = p.mode > 0 or m["weights"] != 1, p.mode == 0 and m["weights"] != 0
        self.lam, self.piT, self.zeta, self.A = ZERO, {}, {}, {}
        for j in self.js:
            self.piT[j] = self.zeta[j] = self.A[j] = ZERO
        if from_lse:
            first = m["u_lse"] * abs(L) + (1 + m["u_lse"]) * lambda_f
            self.lam = first + times(gw(m["c_l"], u), abs(L) + first) + 2 * (1 + m["c_l"]) * w
            eps, g = m["eps"] or f["eps"], gw(m["k_x"], u)
            for j in self.js:
                rho = abs(self.s[j] - L) + self.E[j] + self.lam
                z = self.E[j] + g * rho + loss(eps) + loss(m["u_pd"]) + (m["k_x"] + 1) * w
                far, cut = rho * (1 + g) > f["far"], rho * (1 + g) > min(m["x0"], f["limit"] / 64)
                pi, all_z, off = self.pi[j], self.lam + z, self.s[j] - L
                piT = pi * grown(z) if z < 1 else exp(off + z)
                A = pi * grown(all_z) if all_z < 1 else exp(off + all_z)
                self.zeta[j] = 2 * (1 + m["u_pd"]) * f["omega_w"] * far + m["omega_pd"]
                self.piT[j] = max(piT, pi) if cut else piT
                self.A[j] = (max(A, pi) if cut else A) + self.zeta[j]
        if from_saved:
            for j in self.js:
                C = p["weight_bounds"][self.at * (p.m + 1) + (p.m if j is None else j)]
                error = (1 + m["u_pd"]) * C + m["u_pd"] * self.pi[j] + m["omega_pd"]
                self.A[j], self.piT[j] = max(self.A[j], error), max(self.piT[j], error)
        self.growth = exp(self.lam)
        self.P = {j: self.pi[j] + self.A[j] for j in self.js}
        self.r, self.n = sum(self.A.values()), n

    def before_product(self):
        p, f, m = self.p, self.f, self.m
        u, w, F, dv = f["u"], f["omega"], f["flushes"], p.dv
        o = p.row("o", self.at, dv)
        self.D = {j: ZERO if j is None else self.kappa if p.kept(self.at, j) else ZERO for j in self.js}
        dot = {j: ZERO if j is None else sum((a * b for a, b in zip(self.d_o, self.v[j])), ZERO) for j in self.js}
        size = {j: ZERO if j is None else sum((abs(a * b) for a, b in zip(self.d_o, self.v[j])), ZERO) for j in self.js}
        self.W = {j: self.D[j] * dot[j] for j in self.js}
        self.a = {j: self.D[j] * size[j] for j in self.js}
        exact_o = [sum((self.exact_pi[j] * self.D[j] * self.v[j][e] for j in self.keys), ZERO) for e in range(dv)]
        exact_delta = sum((a * b for a, b in zip(self.d_o, exact_o)), ZERO)
        delta_of_o = sum((a * b for a, b in zip(self.d_o, o)), ZERO)
        self.delta = delta_of_o if p.mode == 2 else exact_delta
        self.y = {j: self.W[j] - self.delta for j in self.js}
        dropout = p["dropout"] > 0 and bool(p["keep"])
        self.drop = plus(gw(f["k_drop"], u), f["u_drop"], gamma(self.kappa - 1, f["u_rate"])) if dropout else ZERO
        self.kplus = self.kappa * (1 + self.drop)
        dO1 = sum(map(abs, self.d_o), ZERO)
        g_dp = gw(m["k_dp_per_dv"] * dv + m["k_dp_base"], m["u_dp"] or u)
        self.N0 = {}
        for j in self.js:
            self.N0[j] = ZERO
            if j is None or self.D[j] == 0:
                continue
            lost = (4 * dv + 2) * w + times(F * 2 * w, dO1 + sum(map(abs, self.v[j]), ZERO))
            inner = times(plus(g_dp, self.drop), self.a[j]) + self.kplus * lost + bool(p["keep"]) * 2 * w
            self.N0[j] = (1 + m["u_dps"]) * inner + m["u_dps"] * abs(self.W[j]) + m["omega_dps"] * self.kplus
        candidates = []
        if p.mode == 2 or m["delta"] != 1:
            B = p["output_bounds"][self.at * dv:(self.at + 1) * dv]
            met = [abs(x) + y for x, y in zip(exact_o, B)] if p.mode == 0 else [abs(x) for x in o]
            F_O = ZERO if p.mode == 2 else abs(delta_of_o - exact_delta)
            if p.mode == 0:
                F_O = sum((times(abs(x), y) for x, y in zip(self.d_o, B)), ZERO)
            sums = sum((times(abs(x), y) for x, y in zip(self.d_o, met)), ZERO)
            lost = (4 * dv + 2) * w + times(F * 2 * w, dO1 + sum(met))
            candidates.append(F_O + times(gw(dv + m["k_delta"], u), sums) + lost)
        if p.mode != 2 and m["delta"] != 0:
            plain = sum(times(self.A[j], abs(self.y[j])) for j in self.js)
            centred = sum(times(self.growth * self.piT[j] + self.zeta[j], abs(self.y[j])) for j in self.js)
            met = sum(times(self.P[j], abs(self.W[j]) + self.N0[j]) for j in self.js)
            e_w = times(gw(self.n + m["k_delta"], u), met) + (4 * self.n + 2) * w
            e_w += times(F * 2 * w, sum(abs(self.W[j]) + self.N0[j] + self.P[j] for j in self.js))
            inner = sum(times(self.P[j], self.N0[j]) for j in self.js)
            candidates.append(min(plain, centred) + abs(self.delta) * self.r + inner + e_w)
        self.e = (1 + m["u_delta"]) * max(candidates) + m["u_delta"] * abs(self.delta) + m["omega_delta"]

    def products(self):
        p, f, m = self.p, self.f, self.m
        u, w, c = f["u"], f["omega"], p["softcap"]
        self.N, self.kap, self.dS, self.dX = {}, {}, {}, {}
        self.nu_x, self.eS, self.eX = {}, {}, {}
        g_dp = gw(m["k_dp_per_dv"] * p.dv + m["k_dp_base"], m["u_dp"] or u)
        theta, d = plus(gw(m["k_ds"], u), m["u_ds"]), abs(self.delta) + self.e
        self.theta = theta
        alone = len(self.js) == 1 and p.mode != 2
        for j in self.js:
            y = ZERO if alone else abs(self.y[j])
            N = self.N0[j]
            if m["delta_first"]:
                N += g_dp * d + (m["u_dps"] * (y + self.e + self.N0[j]) + m["omega_dps"] if m["u_dps"] > 0 else 0)
            if m["k_e"] > 0:
                N += gw(m["k_e"], u) * (abs(self.W[j]) + self.N0[j] + d)
            self.N[j], self.kap[j] = N, ZERO
            if c > 0 and j is not None:
                moved, t = self.Ex[j] / c, abs(self.t[j])
                e_t = (1 + f["e_c"]) * moved * min(ONE, self.slope[j] + Decimal("0.77") * moved)
                e_t += f["e_c"] * t + f["a_t"] + 2 * w * (1 + 1 / c)
                self.kap[j] = 2 * t * e_t + e_t ** 2 + gw(m["k_g"], u) * (1 + e_t) ** 2 + 2 * w
            self.dS[j] = ZERO if alone else self.pi[j] * self.y[j]
            self.dX[j] = self.dS[j] * self.slope[j]
            nu = 6 * w * (1 + self.P[j]) + m["omega_ds"]
            self.nu_x[j] = nu * (1 + self.kap[j]) + 2 * w
            q = self.q(j, self.A[j], self.P[j], ONE, ZERO, theta)
            self.eS[j] = q * (y + self.e) + (self.pi[j] + q) * N + self.pi[j] * self.e + nu
            g = self.slope[j]
            q = self.q(j, self.A[j], self.P[j], g, self.kap[j], theta)
            self.eX[j] = q * (y + self.e) + (self.pi[j] * g + q) * N + self.pi[j] * g * self.e + self.nu_x[j]
        self.abs_y = {j: ZERO if alone else abs(self.y[j]) for j in self.js}

    def q(self, j, A, P, g, kap, psi):
        return (times(A, g) + times(P, kap)) * (1 + psi) + psi * self.pi[j] * g

    def term(self, j, A, P, psi):
        g = self.slope[j]
        q = self.q(j, A, P, g, self.kap[j], psi)
        return times(q, self.abs_y[j] + self.e) + times(self.pi[j] * g + q, self.N[j])


class problem(dict):
    def __init__(self, line):
        super().__init__(read(json.loads(line)))
        for key in ("b", "hq", "hk", "n", "m", "d", "dv", "mode"):
            setattr(self, key, int(self[key]))
        self.sigma = self["scale"] if self["has_scale"] else 1 / Decimal(self.d).sqrt()
        self.shape = [int(x) for x in self["bias_shape"]]

    def row(self, key, at, width):
        return self[key][at * width:(at + 1) * width]

    def bias_place(self, b, h, i, j):
        at = 0
        for size, index in zip(self.shape, (b, h, i, j)):
            at = at * size + (0 if size == 1 else index)
        return at

    def bias_at(self, b, h, i, j):
        return self["bias"][self.bias_place(b, h, i, j)] if self["bias"] else ZERO

    def kept(self, at, j):
        return not self["keep"] or self["keep"][at * self.m + j] != 0

    def sees(self, b, h, i, j):
        inside = self["right"] < 0 or j - (i + self["diagonal"]) <= self["right"]
        return inside and (not self["mask"] or self["mask"][((b * self.hq + h) * self.n + i) * self.m + j] != 0)

    def weighted(self, b, h, i, j):
        return self.sees(b, h, i, j) and self.bias_at(b, h, i, j).is_finite()

    def bounds(self):
        """Lemmas 9 to 13, of every element in the order of the program."""
        f, m = self["forward"], self["backward"]
        u, w, F = f["u"], f["omega"], f["flushes"]
        u_acc, s_, s_plus = max(u, m["u_acc"]), abs(self.sigma), max(ONE, abs(self.sigma))
        heads = self.hq // self.hk
        found = {"dq": [], "dk": [], "dv_": [], "dbias": [], "dsink": []}
        shared = {"dbias": [[] for _ in self["bias"]], "dsink": [[] for _ in self["sink"]]}

        def height(count, places):
            chain = max(0, count - 1)
            if not m["block"]:
                return chain
            block = int(m["block"])
            return min(chain, block + -(-places // block) - 2)

        def parts(places, part):
            return -(-places // int(part)) - 1 if part and places > part else 0

        def stored(x, b):
            bound = b * (1 + m["u_grad"]) + m["u_grad"] * x + (m["omega_grad"] if b > 0 else ZERO)
            return bound if x + bound < min(f["limit"], m["stored_limit"]) else INF

        for b in range(self.b):
            for g in range(self.hk):
                rows = [row(self, b, h, i, None) for h in range(g * heads, (g + 1) * heads) for i in range(self.n)]
                for r in rows:
                    if not r.keys:
                        found["dq"] += [ZERO] * self.d
                        continue
                    k_C = parts(self.m, m["part_keys"])
                    psi = plus(r.theta, gw(height(r.n, self.m) + 1 + m["k_scale"], u_acc), gamma(k_C, m["u_grad"]))
                    common = {j: r.piT[j] + r.growth * r.zeta[j] for j in r.keys}
                    for t in range(self.d):
                        k = {j: r.k[j][t] for j in r.keys}
                        mean = sum((r.pi[j] * r.slope[j] * k[j] for j in r.keys), ZERO)
                        mean = abs(mean) if m["delta_shared"] else sum(r.pi[j] * r.slope[j] * abs(k[j]) for j in r.keys)
                        exact = abs(self.sigma * sum((r.dX[j] * k[j] for j in r.keys), ZERO))
                        outer = sum(times(r.term(j, r.A[j], r.P[j], psi), abs(k[j])) for j in r.keys)
                        one = times(s_, outer + times(r.e, mean))
                        inner = sum(times(r.term(j, common[j], r.pi[j] + common[j], psi), abs(k[j])) for j in r.keys)
                        two = times(grown(r.lam), exact) + times(r.growth, times(s_, inner + times(r.e, mean)))
                        U = s_plus * (sum((r.nu_x[j] + 2 * w) * abs(k[j]) for j in r.keys) + 4 * w * r.n
                                      + 2 * w * sum(abs(r.dX[j]) + r.eX[j] for j in r.keys))
                        U = (1 + psi) * (U + 2 * w + k_C * m["omega_grad"])
                        found["dq"].append(stored(exact, min(one, two) + U))
                    for j in r.keys:
                        if self["bias"]:
                            behind = m["omega_ds"] * max(ZERO, 1 / s_ - 1) if m["ds_scaled"] and s_ > 0 else ZERO
                            shared["dbias"][self.bias_place(*r.place, j)].append((r.dS[j], r.eS[j] + behind))
                    if r.sink:
                        shared["dsink"][r.place[1]].append((r.dS[None], r.eS[None]))
                k_R = parts(len(rows), m["part_rows"])
                for j in range(self.m):
                    n_j = sum(self.sees(*r.place, j) for r in rows)
                    live = [r for r in rows if j in r.keys]
                    h = height(n_j, len(rows))
                    drop, kplus = (live[0].drop, live[0].kplus) if live else (ZERO, ONE)
                    dropout = drop > 0
                    psi_V = plus(f["u_p"], gw(h + 1 + m["k_dv"], u_acc), gamma(k_R, m["u_grad"]), drop)
                    theta = live[0].theta if live else ZERO
                    psi_K = plus(theta, gw(h + 1 + m["k_scale"], u_acc), gamma(k_R, m["u_grad"]))

                    def by_head(value):
                        of = {}
                        for r in live:
                            of[r.place[1]] = of.get(r.place[1], ZERO) + value(r)
                        return abs(sum(of.values(), ZERO)), sum(map(abs, of.values()), ZERO)

                    def finish(value, bound):
                        x, sizes = by_head(value)
                        if heads > 1 and (m["u_head"] > 0 or m["omega_head"] > 0):
                            if sizes + bound >= min(f["limit"], m["stored_limit"]):
                                return INF
                            bound += (1 + gw(heads, u)) * (m["u_head"] * (sizes + bound) + heads * m["omega_head"])
                        return stored(x, bound)

                    for e in range(self.dv):
                        main = sum((times(r.D[j] * abs(r.d_o[e]), r.A[j] * (1 + psi_V) + psi_V * r.pi[j])
                                    for r in live), ZERO)
                        kept = sum((abs(r.d_o[e]) for r in live if r.D[j] > 0), ZERO)
                        lost = kplus * (f["omega_p"] + F * 2 * w) * kept
                        weights = sum((r.P[j] for r in live), ZERO) + n_j
                        lost += kplus * (2 * w * (2 * n_j + 1) + times((F + dropout) * 2 * w, weights))
                        lost += k_R * m["omega_grad"]
                        bound = finish(lambda r: r.pi[j] * r.D[j] * r.d_o[e], main + (1 + psi_V) * lost)
                        found["dv_"].append(bound if live else ZERO)
                    for t in range(self.d):
                        q = {id(r): self.row("q", r.at, self.d)[t] for r in live}
                        of = {id(r): r.term(j, r.A[j], r.P[j], psi_K) + times(r.pi[j] * r.slope[j], r.e) for r in live}
                        main = s_ * sum((times(of[id(r)], abs(q[id(r)])) for r in live), ZERO)
                        lost = s_plus * (sum(((r.nu_x[j] + 2 * w) * abs(q[id(r)]) for r in live), ZERO) + 4 * w * n_j
                                         + 2 * w * sum((abs(r.dX[j]) + r.eX[j] for r in live), ZERO))
                        bound = main + (1 + psi_K) * (lost + 2 * w + k_R * m["omega_grad"])
                        bound = finish(lambda r: self.sigma * r.dX[j] * q[id(r)], bound)
                        found["dk"].append(bound if live else ZERO)
        for key, elements in shared.items():
            for terms in elements:
                H = max(0, len(terms) - 1)
                x, b = abs(sum((a for a, _ in terms), ZERO)), sum((e for _, e in terms), ZERO)
                bound = b * (1 + gw(H, u)) + gw(H, u) * sum((abs(a) for a, _ in terms), ZERO) + 2 * H * w
                found[key].append(stored(x, bound) if terms else ZERO)
        return found


def main(program, count, seed):
    lines = subprocess.run([program, count, seed], check=True, capture_output=True, text=True).stdout.splitlines()
    compared = infinite = 0
    widest = ZERO
    for at, line in enumerate(lines):
        p = problem(line)
        for key, bounds in p.bounds().items():
            assert len(bounds) == len(p[key]), (at, key)
            for place, (text, ours) in enumerate(zip(bounds, p[key])):
                if not ours.is_finite():
                    infinite += 1
                    continue
                assert text.is_finite(), f"problem {at}, {key}[{place}]: the text judges nothing"
                compared += 1
                ratio = ours / text if text > 0 else ONE if ours < Decimal("1e-280") else INF
                widest = max(widest, ratio - 1)
                assert 1 - Decimal(2) ** -60 <= ratio <= 1 + Decimal(2) ** (-6 if p["softcap"] > 0 else -15), \
                    f"problem {at} mode {p.mode}, {key}[{place}]: text {text:.12e}, program {ours:.12e}"
    print(f"{compared} bounds of {len(lines)} problems agree within {widest:.2e}; {infinite} are infinite")
    assert compared > 9 * infinite


if __name__ == "__main__":
    main(*sys.argv[1:])
