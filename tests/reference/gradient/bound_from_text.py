"""docs/bound_backward.md, evaluated from its text with 60 decimal digits, beside the bounds of reference/gradient/.

usage: bound_from_text.py PROGRAM COUNT SEED [SEED ...]    PROGRAM: gradient_bound_rows

Each enclosure of the program must hold the exact number. Each bound must be at least the text's with exact numbers. It
must be at most 2^-37 more than the text's with the numbers as the program encloses them: what it adds to them is
rounding alone. Of all bounds, 98 % are within 2^-15 of the text with exact numbers; the others belong to gradients that
cancel to 1e-9 of their terms and less, where the enclosures of double arithmetic are wide.
"""
import json
import subprocess
import sys
from decimal import Decimal

from numbers_of_text import INF, ONE, ZERO, gamma, grown, gw, plus, read, times
from rows_from_text import row


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

    def known_rows(self):
        """What the program knows of each row that it judges, by its place."""
        found = {}
        for known in self["rows"]:
            known["j"] = [None if j < 0 else int(j) for j in known["j"]]
            found[tuple(int(x) for x in known["at"])] = known if known["judged"] else None
        return found

    def values(self, rows):
        """Every element exactly, in the order of the program: section 1."""
        found = {"dq": [], "dk": [], "dv_": []}
        found["dbias"], found["dsink"] = [ZERO] * len(self["bias"]), [ZERO] * len(self["sink"])
        for group in rows:
            for r in group:
                for t in range(self.d):
                    found["dq"].append(sum((self.sigma * r.dX[j] * r.k[j][t] for j in r.keys), ZERO))
                for j in r.keys if self["bias"] else []:
                    found["dbias"][self.bias_place(*r.place, j)] += r.dS[j]
                if r.keys and r.sink:
                    found["dsink"][r.place[1]] += r.dS[None]
            for j in range(self.m):
                live = [r for r in group if j in r.keys]
                for t in range(self.d):
                    found["dk"].append(sum((self.sigma * r.dX[j] * self.row("q", r.at, self.d)[t] for r in live), ZERO))
                for e in range(self.dv):
                    found["dv_"].append(sum((r.pi[j] * r.D[j] * r.d_o[e] for r in live), ZERO))
        return found

    def all_rows(self):
        heads = self.hq // self.hk
        return [[row(self, b, h, i) for h in range(g * heads, (g + 1) * heads) for i in range(self.n)]
                for b in range(self.b) for g in range(self.hk)]

    def bounds(self, all_rows, sizes, known=None):
        """Lemmas 9 to 13, of every element in the order of the program. sizes: |x| of each, and the width of what is
        known of it; known: the program's rows, if the bound is to rest on them."""
        f, m = self["forward"], self["backward"]
        u, w, F = f["u"], f["omega"], f["flushes"]
        u_acc, s_, s_plus = max(u, m["u_acc"]), abs(self.sigma), max(ONE, abs(self.sigma))
        heads = self.hq // self.hk
        centred = m["same_terms"] and m["delta_shared"] and m["delta"] == 1 and self.mode != 2 and self["softcap"] == 0
        found = {"dq": [], "dk": [], "dv_": [], "dbias": [], "dsink": []}
        shared = {"dbias": [[] for _ in self["bias"]], "dsink": [[] for _ in self["sink"]]}

        def height(count, places, of_heads=1):
            chain = max(0, count - 1)
            if not m["block"]:
                return chain
            block = int(m["block"])
            return min(chain, block + of_heads * -(-places // block) - 2)

        def parts(places, part, of_heads=1):
            return max(0, of_heads * -(-places // int(part)) - 1) if part else 0

        def stored(x, b):
            bound = b * (1 + m["u_grad"]) + times(m["u_grad"], x) + (m["omega_grad"] if b > 0 else ZERO)
            return bound if x + bound < min(f["limit"], m["stored_limit"]) else INF

        def size_of(key):
            return sizes[key][len(found[key])][0]

        def width_of(key):
            return sizes[key][len(found[key])][1]

        for rows in all_rows:
            for r in rows:
                if r.keys:
                    r.evaluate(known and known[r.place])
            for r in rows:
                if not r.keys:
                    found["dq"] += [ZERO] * self.d
                    continue
                k_C = parts(self.m, m["part_keys"])
                psi = plus(r.theta, gw(height(r.n, self.m) + 1 + m["k_scale"], u_acc), gamma(k_C, m["u_grad"]))
                common = {j: r.piT[j] + r.growth * r.zeta[j] for j in r.keys}
                for t in range(self.d):
                    k, exact = {j: r.k[j][t] for j in r.keys}, size_of("dq")
                    mean, off = r.mean_key(k, max(map(abs, self["k"])))
                    outer = sum(times(r.term(j, r.A[j], r.P[j], psi), abs(k[j])) for j in r.keys)
                    one = times(s_, outer + times(r.e, mean))
                    inner = sum(times(r.term(j, common[j], r.z_pi[j] + common[j], psi), abs(k[j])) for j in r.keys)
                    two = times(grown(r.lam), exact) + times(r.growth, times(s_, inner + times(r.e, mean)))
                    U = s_plus * (sum((r.nu_x[j] + 2 * w) * abs(k[j]) for j in r.keys) + 4 * w * r.n
                                  + 2 * w * sum(r.z_dX[j] + r.eX[j] for j in r.keys) + k_C * m["omega_grad"])
                    U = (1 + psi) * (U + 2 * w)
                    least = min(one, two)
                    if centred:
                        least = min(least, r.centred(k, off, psi, s_))
                    found["dq"].append(stored(exact, least + U))
                for j in r.keys:
                    if self["bias"]:
                        behind = m["omega_ds"] * max(ZERO, 1 / s_ - 1) if m["ds_scaled"] and s_ > 0 else ZERO
                        shared["dbias"][self.bias_place(*r.place, j)].append((r.z_dS[j], r.eS[j] + behind))
                if r.sink:
                    shared["dsink"][r.place[1]].append((r.z_dS[None], r.eS[None]))
            k_R = parts(self.n, m["part_rows"], heads)
            for j in range(self.m):
                n_j = sum(self.sees(*r.place, j) for r in rows)
                live = [r for r in rows if j in r.keys]
                h = height(n_j, self.n, heads)
                drop, kplus = (live[0].drop, live[0].kplus) if live else (ZERO, ONE)
                w_drop = live[0].w_drop if live else ZERO
                dropout = drop > 0
                psi_V = plus(f["u_p"], f["u_v"], gw(h + 1 + m["k_dv"], u_acc), gamma(k_R, m["u_grad"]), drop)
                theta = live[0].theta if live else ZERO
                psi_K = plus(theta, gw(h + 1 + m["k_scale"], u_acc), gamma(k_R, m["u_grad"]))

                def sizes_of_heads(value):
                    of = {}
                    for r in live:
                        of[r.place[1]] = of.get(r.place[1], ZERO) + value(r)
                    return sum(map(abs, of.values()), ZERO)

                def finish(key, value, bound):
                    x, of_heads = size_of(key), sizes_of_heads(value) + width_of(key)
                    if heads > 1 and (m["u_head"] > 0 or m["omega_head"] > 0):
                        if of_heads + bound >= min(f["limit"], m["stored_limit"]):
                            return INF
                        bound += (1 + gw(heads, u)) * (m["u_head"] * (of_heads + bound) + heads * m["omega_head"])
                    return stored(x, bound)

                for e in range(self.dv):
                    main = sum((times(r.D[j] * abs(r.d_o[e]), times(r.A[j], 1 + psi_V) + times(psi_V, r.z_pi[j]))
                                for r in live), ZERO)
                    kept = sum((abs(r.d_o[e]) for r in live if r.D[j] > 0), ZERO)
                    lost = (kplus * (f["omega_p"] + F * 2 * w) + w_drop) * kept
                    weights = sum((r.P[j] for r in live), ZERO) + n_j
                    lost += times(w_drop, weights - n_j)
                    lost += kplus * (2 * w * (2 * n_j + 1) + times((F + dropout) * 2 * w, weights))
                    lost += k_R * m["omega_grad"]
                    bound = finish("dv_", lambda r: r.pi[j] * r.D[j] * r.d_o[e], main + times(1 + psi_V, lost))
                    found["dv_"].append(bound if live else ZERO)
                for t in range(self.d):
                    q = {id(r): self.row("q", r.at, self.d)[t] for r in live}
                    of = {id(r): r.term(j, r.A[j], r.P[j], psi_K) + times(r.z_pi[j] * r.z_slope[j], r.e)
                          for r in live}
                    main = times(s_, sum((times(of[id(r)], abs(q[id(r)])) for r in live), ZERO))
                    lost = s_plus * (sum(((r.nu_x[j] + 2 * w) * abs(q[id(r)]) for r in live), ZERO) + 4 * w * n_j
                                     + 2 * w * sum((r.z_dX[j] + r.eX[j] for r in live), ZERO)
                                     + k_R * m["omega_grad"])
                    bound = main + times(1 + psi_K, lost + 2 * w)
                    bound = finish("dk", lambda r: self.sigma * r.dX[j] * q[id(r)], bound)
                    found["dk"].append(bound if live else ZERO)
        for key, elements in shared.items():
            for terms in elements:
                H = max(0, len(terms) - 1)
                x, b = size_of(key), sum((e for _, e in terms), ZERO)
                bound = times(b, 1 + gw(H, u)) + times(gw(H, u), sum((a for a, _ in terms), ZERO)) + 2 * H * w
                found[key].append(stored(x, bound) if terms else ZERO)
        return found


class comparison:
    """What the bounds of many problems are beside the text's."""

    def __init__(self):
        self.compared = self.infinite = self.wide = 0
        self.widest, self.above = ZERO, ZERO

    def add(self, p, where):
        known, rows = p.known_rows(), p.all_rows()
        for r in (r for group in rows for r in group if r.keys and known[r.place]):
            r.check(known[r.place])
        values = p.values(rows)
        exact = {key: [(abs(x), ZERO) for x in of] for key, of in values.items()}
        as_known = {key: [(max(abs(a), abs(b)), b - a) for a, b in zip(p[key + "_lower"], p[key + "_upper"])]
                    for key in values}
        text, limits = p.bounds(rows, exact), p.bounds(rows, as_known, known)
        for key, bounds in text.items():
            assert len(bounds) == len(p[key]), (where, key)
            for place, (least, most, ours) in enumerate(zip(bounds, limits[key], p[key])):
                name = f"{where}, mode {p.mode}, {key}[{place}]"
                low, high = p[key + "_lower"][place], p[key + "_upper"][place]
                assert low <= values[key][place] <= high, f"{name}: {values[key][place]:.20e} is not enclosed"
                if not ours.is_finite():
                    self.infinite += 1
                    continue
                assert least.is_finite(), f"{name}: the text judges nothing"
                self.compared += 1
                if ours < Decimal("1e-280"):
                    assert least <= ours, f"{name}: text {least:.12e}, program {ours:.12e}"
                    continue
                assert least * (1 - Decimal(2) ** -60) <= ours <= most * (1 + Decimal(2) ** -37), \
                    f"{name}: text {least:.12e} to {most:.12e}, program {ours:.12e}"
                ratio = ours / least if least > 0 else INF
                self.wide += ratio > 1 + Decimal(2) ** -15
                self.widest, self.above = max(self.widest, ratio), max(self.above, ours / most - 1)


def main(program, count, *seeds):
    found, problems = comparison(), 0
    for seed in seeds:
        out = subprocess.run([program, count, seed], check=True, capture_output=True, text=True).stdout
        for at, line in enumerate(out.splitlines()):
            found.add(problem(line), f"seed {seed}, problem {at}")
            problems += 1
    print(f"{found.compared} bounds of {problems} problems lie between the text with exact numbers and the text with "
          f"enclosures ({float(found.above):.1e} above at most); {found.wide} are more than 2^-15 above the former, "
          f"{float(found.widest):.3f} times at most; {found.infinite} are infinite")
    assert found.compared > 9 * found.infinite and found.wide * 50 < found.compared


if __name__ == "__main__":
    main(*sys.argv[1:])
