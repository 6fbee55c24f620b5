"""docs/bound.md, section 5, Theorem (known weights), written down from the text alone.

The theorem speaks of exact scores, so it has two forms of its own, beside the forms of bound_text.py:

  exact    the formulas, at one choice of scores inside the facts (exact_facts): its o* and B* are what the code has to
           cover
  widened  the facts as they are, with what E1, E2, E3 and E12 add

Midpoints. The z0 of the code lies between the z0 of `exact` and of `widened`. Where a midpoint lies between the two,
the code's a_j or b_j is a whole spacing of P's format away from one of the two forms, not known which.
So `widened` lets the middle of a_j and b_j follow from any z0 between the two: pi_j(1 + d_j) lies between two numbers,
and their distance joins pi_j*delta_j. That moves what the code may say above, in such rows alone. It does not move what
the code has to cover: `exact` has the smaller z0.
"""
from decimal import ROUND_FLOOR, Decimal

from bound_text_numbers import FOUR_THIRDS, HALF, INF, ONE, TWO, ZERO, expm1, times
from bound_text_results import results

LN2 = TWO.ln()
# Unit roundoff and half of the smallest subnormal number of bf16, f16, f32; exact, which 2^-134 is not in 50 digits.
ELEMENT_TYPES = {(Decimal(2.0**-8), Decimal(2.0**-134)), (Decimal(2.0**-11), Decimal(2.0**-25)),
                 (Decimal(2.0**-24), Decimal(2.0**-150))}
SIXTEENTH = ONE / 16


def nearest(x, u_p, omega_p, midpoints_up):
    """x >= 0 rounded to nearest to numbers of unit roundoff u_p whose subnormals are the multiples of 2*omega_p."""
    if not x:
        return ZERO
    exponent = int((x.ln() / LN2).to_integral_value(ROUND_FLOOR))
    while TWO**exponent > x:
        exponent -= 1
    while TWO**(exponent + 1) <= x:
        exponent += 1
    spacing = max(TWO**exponent * 2 * u_p, 2 * omega_p)
    steps = (x / spacing).to_integral_value(ROUND_FLOOR)
    rest = x / spacing - steps
    return (steps + 1 if rest > HALF or rest == HALF and midpoints_up else steps) * spacing


def is_power_of_two(u):
    return u > 0 and TWO**int((u.ln() / LN2).to_integral_value()) == u


class exact_key:
    """The facts of a key whose score, beside the maximum, is x."""

    def __init__(self, key, x, Z):
        vars(self).update(vars(key))
        self.xl = self.xu = x
        self.wl = self.wu = x.exp() / Z


def exact_facts(facts, keys, turn):
    """Scores inside the facts: the lower end, the middle or the upper end of each, in turn; None if the facts that are
    known more narrowly than from x_j, Z and pi_j do not admit them."""
    choices = [(key.xl, (key.xl + key.xu) / 2, key.xu)[(turn + j) % 3] for j, key in enumerate(keys)]
    first = max(range(len(keys)), key=lambda j: keys[j].xu)
    choices[first] = ZERO if keys[first].xl <= 0 <= keys[first].xu else keys[first].xu
    Z = sum(x.exp() for x in choices)
    exact = [exact_key(key, x, Z) for key, x in zip(keys, choices)]
    inside = all(key.wl <= one.wl <= key.wu for key, one in zip(keys, exact))
    if not inside or max(choices) != 0 or Z < facts["normaliser_lower"]:
        return None
    return facts | {"normaliser_lower": Z}, exact


class known(results):
    """One row; `narrow` is the exact form of the same row where this one is widened."""

    def __init__(self, model, facts, keys, form, narrow=None):
        super().__init__(model, facts, keys, form)
        self.narrow = narrow
        self.weights_known = self.declared() and self.theorem_holds and self.find_known()

    def declared(self):
        m = self.m
        if self.has_sink or self.f["drops"]:
            return False
        in_order = m["weight_reference"] in ("rising", "falling")
        if in_order and m["rescales"] == "none" or m["weight_reference"] != "own_block" and m["merges"] > 0:
            return False
        return (m["weight_reference"] != "unknown" and is_power_of_two(m["u_p"]) and not m["u_v"] and not m["p_shared"]
                and not m["k_pre"]
                and m["p_normalised"] == "no" and self.S == 1 and not m["tau"]
                and m["merge"] == "raw" and m["normalise"] == "sum")

    # E12

    def small_growth(self, x):
        return self.up(x * (1 + x)) if self.widened else expm1(x)

    def between(self, key):
        """e^{s_j - m_t} from both sides; the code's upper end is anywhere from e^x to that, and its lower follows."""
        low, high = self.below(key.xl - key.m_high), self.above(key.xu - key.m_low)
        if not self.widened:
            return low.exp(), high.exp()
        least = high.exp() * (1 - TWO**-39) * (1 - self.above(high - low))
        return max(ZERO, least) * (2 - self.slack), self.exp(high)

    def references(self):
        super().references()
        if self.m["weight_reference"] != "unknown" and not self.has_sink:
            self.weight_references()

    def weight_references(self):
        """m_t - m, as two ends; E_t; whether a later block can raise the reference."""
        kind, b = self.m["weight_reference"], self.m["block"]
        self.E_end = self.above(max(self.max_above, -self.max_below))
        blocks = {}
        for key in self.keys:
            blocks.setdefault(0 if kind == "whole_row" else key.index // b, []).append(key)
        order = sorted(blocks, reverse=kind == "falling")
        for at, t in enumerate(order):
            seen = blocks[t] if kind == "own_block" else [key for s in order[:at + 1] for key in blocks[s]]
            later = [key for s in order[at + 1:] for key in blocks[s]]
            surest, highest = max(key.low for key in seen), max(key.high for key in seen)
            m_t = seen
            if kind in ("rising", "falling"):                  # a block may take all of its group of block_most keys
                most = max(b, self.m["block_most"])
                last = [s for s in order if s * b // most == t * b // most][-1]
                m_t = [key for s in order[:order.index(last) + 1] for key in blocks[s]]
                highest = max(key.high for key in m_t)
            low, high = max(key.xl for key in m_t), max(key.xu for key in m_t)
            if kind == "own_block":
                low, high, highest = ZERO, ZERO, self.max_above
            E_t = max(ZERO, self.above(highest - low), self.above(high - surest))
            raised = kind == "own_block" or any(key.high > surest for key in later)
            for key in blocks[t]:
                key.m_low, key.m_high, key.E_t, key.raised = low, high, E_t, raised

    def find_known(self):
        """pi_j(1 + d_j) as two ends, pi_j*delta_j and pi_j(1 + d_j + delta_j); whether the theorem says anything."""
        m = self.m
        if self.E_end >= SIXTEENTH:
            return False
        u_p, omega_p = m["u_p"], m["omega_p"]
        gradual = (u_p, omega_p) in ELEMENT_TYPES
        growth_end = self.small_growth(self.E_end)
        unknown = ZERO
        for j, key in enumerate(self.keys):
            key.z0 = self.up(key.E + key.E_t + self.gamma_x * (self.above(key.m_high - key.xl) + key.E + key.E_t)
                             + key.kappa + self.eps_hat + self.underflow)
            key.r = ZERO
            if key.raised or m["unchanged_rescale"] == "rounded":
                rise = max(ZERO, self.above(self.max_above - key.m_low))
                key.r = self.up(key.E_t + self.E_end + self.gamma_x * (rise + key.E_t) + 2 * key.kappa
                                + key.R * self.eps_r_hat + self.underflow)
            key.q_low, key.q_high = self.between(key)
            if self.widened:
                key.p_low = key.q_low * max(ZERO, 1 - key.z0) * (2 - self.slack)
                key.p_high = self.up(key.q_high * (1 + key.z0 * (1 + key.z0)))
            else:
                z = min(key.z0, ONE)                           # unknown from 1/16 on
                key.p_low, key.p_high = key.q_low * (-z).exp(), key.q_high * z.exp()
            key.known = not (key.far or key.flushed or key.z0 >= SIXTEENTH or key.r >= SIXTEENTH
                             or key.p_low < omega_p / u_p and not gradual or not key.q_low)
            if key.known:
                self.known_weight(key, self.narrow.keys[j] if self.narrow else None)
                continue
            unknown += key.wu
            if key.P >= 1:
                return False
            key.center_low, key.center_high = key.wl, key.wu
            widened = u_p + growth_end + times(u_p, growth_end)
            key.deviation = self.up(key.wu * widened + key.P * (1 + widened) + omega_p * FOUR_THIRDS * self.beside_sum
                                    + (key.wu - key.wl))
        return self.up(unknown) <= HALF

    def known_weight(self, key, narrow):
        u_p, omega_p = self.m["u_p"], self.m["omega_p"]
        key.a = key.a_most = nearest(key.p_low, u_p, omega_p, False)
        key.b = key.b_least = nearest(key.p_high, u_p, omega_p, True)
        if narrow and narrow.known:
            key.a_most, key.b_least = narrow.a, narrow.b
        odds_low, odds_high = key.wl / key.q_high, key.wu / key.q_low  # pi_j/e^{s_j - m_t}
        key.center_low = (key.a + key.b_least) / 2 * odds_low
        key.center_high = self.up((key.a_most + key.b) / 2 * odds_high)
        growth = self.small_growth(key.r)
        half = (key.b - key.a) / 2 * odds_high
        key.deviation = self.up(key.center_high * growth + half * (1 + growth) + (key.center_high - key.center_low))

    def known_center(self, values):
        """o*_c, and the distance within which the facts and the midpoints leave it."""
        middle = sum((key.center_low + key.center_high) / 2 * v for key, v in zip(self.keys, values))
        return middle, sum((key.center_high - key.center_low) * abs(v) for key, v in zip(self.keys, values))

    def walked(self, values):
        """N*_c: of each group, the keys in it times the largest sum that an accumulator may hold there, from above."""
        most = max(self.m["block"], self.m["block_most"])
        groups = {}
        for key, v in zip(self.keys, values):
            products = sorted((key.center_low * v, key.center_high * v))
            groups.setdefault(key.index // most, []).append(products)
        low = high = nodes = ZERO
        for at in sorted(groups, reverse=self.m["weight_reference"] == "falling"):
            group = groups[at]
            added = sum(max(ZERO, highest) for _, highest in group)
            taken = sum(max(ZERO, -least) for least, _ in group)
            nodes += len(group) * max(abs(high + added), abs(low - taken), added, taken)
            low, high = low + sum(least for least, _ in group), high + sum(highest for _, highest in group)
        return nodes

    def known_size(self, values):
        """B*_c after the rounding to the output format; infinite where nothing is asked."""
        n, omega = self.n, self.omega
        sizes = [abs(v) for v in values]
        largest = max(sizes)
        if not self.weights_known or self.range_of_sum * largest >= self.m["format.h0_limit"]:
            return INF
        middle, open_to = self.known_center(values)
        o = abs(middle) + open_to
        grown = self.small_growth(self.E_end)
        spread = sum(key.deviation * size for key, size in zip(self.keys, sizes))
        whole = sum((key.center_high + key.deviation) * size for key, size in zip(self.keys, sizes))
        far = self.n_far * self.far_share
        rounding = n * TWO**-52 * whole if self.widened else ZERO
        o += rounding
        underflow = n * TWO**-1074 * max(ONE, largest) if self.widened else ZERO
        A = self.up((grown * o + (1 + grown) * spread + o * self.sum_P) / self.D + far * (2 * largest + o))
        A += underflow + rounding
        A_sizes = self.up((1 + grown) * whole / self.D + 2 * far * largest) + underflow
        Phi = times(self.gamma_h, A_sizes)
        if not self.m["promote"]:
            nodes = self.nu_O * ((A_sizes + o + A) / 2 + times(self.gamma_h, A_sizes))
            if self.m["accumulator"] == "one" and self.m["weight_reference"] in ("rising", "falling"):
                walked = (1 + grown) * (self.walked(values) + n * (spread + rounding)) / self.D
                nodes = min(nodes, self.up(walked + n * (2 * far * largest + times(self.gamma_h, A_sizes))))
            Phi = min(Phi, times(self.gamma_k, A_sizes) + times((1 + self.gamma_h)**2 * self.u_pv, nodes))
        bound = A + ((1 + self.gamma_F) * (Phi + self.lost)
                     + (o + A) * (self.gamma_L + self.gamma_F)) / (1 - self.gamma_L) + 2 * omega
        return self.rounded_output(self.up(bound), o)
