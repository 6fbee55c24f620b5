"""docs/bound.md, section 5, Theorem T2, written down from the text alone: a sink that is a factor behind the keys."""
from bound_text_numbers import INF, ONE, TWO, ZERO, Decimal, gamma, times
from bound_text_results import DOMINANCE, EITHER, NOTHING, THEOREM, results


def weaker(one, other):
    """What judges a bound that is the larger of two."""
    return DOMINANCE if DOMINANCE in (one, other) else EITHER if EITHER in (one, other) else THEOREM


class with_sink(results):
    """`alone` is the row without its sink: facts, keys, and t - LSE_K from below and above; None where there is
    none."""

    def __init__(self, model, facts, keys, form, alone):
        super().__init__(model, facts, keys, form)
        self.asked = model["sink_form"] != "term" and self.has_sink and self.real > 0
        self.only = self.asked and model["sink_form"] == "rescale"
        if not self.asked:
            return
        facts_alone, keys_alone, self.least_gap, self.most_gap = alone
        self.alone = results(model, facts_alone, keys_alone, form)
        self.by_term = None if not self.judged else (self.lse, self.lse_by)
        fits = abs(keys[-1].bias) < model["format.h0_limit"]
        fits = fits or self.above(self.most_gap + keys[-1].E) < -model["format.h0_limit"] / 4
        failures = list(self.alone.failures)
        failures += [] if fits else ["T2.0"]
        failures += ["H0.10"] if self.beyond_limit else []
        if not failures:
            failures += ["T2.1"] if self.alone.gamma_x >= 1 or self.alone.lse == INF else []
        if not self.only:
            failures = self.failures + failures
        self.failures, self.judged = failures, not failures
        if self.judged:
            self.factor()

    def moved(self, delta):
        """min(delta, pi*(e^delta - 1)); E13: from delta = 1 on e^(t - LSE_K + delta)."""
        pi = self.keys[-1].wu
        if not self.stated:
            # pi <= e^(t - LSE_K); what facts say of it may be 2^-1074
            pi = min(pi, self.most_gap.exp())
            return min(delta, times(pi, delta.exp() - 1) if delta > Decimal("1e-8") else pi * self.growth(delta))
        return min(delta, self.up(pi * self.growth(delta)
                                  if delta < 1 else self.exp(self.above(self.most_gap + delta))))

    def factor(self):
        m, u, omega, up, alone = self.m, self.u, self.omega, self.up, self.alone
        E, size = self.keys[-1].E, abs(self.keys[-1].bias)
        gamma_x, eps_hat, lam = alone.gamma_x, alone.eps_hat, alone.lse
        ln_2 = TWO.ln() * (1 + TWO**-52 if self.widened else 1)
        lost_argument = m["k_x"] * omega if m["flushes"] or m["k_x"] > 1 else ZERO
        inputs = lam + E
        delta = up(inputs + gamma_x * (max(abs(self.least_gap), abs(self.most_gap)) + inputs) + eps_hat + lost_argument)
        first = gamma(1, u) + Decimal("0.28") * gamma_x / (1 - gamma_x) + eps_hat / 2 + lost_argument
        lost_by_exp = max(m["format.omega_w"], self.exp(-m["x0"]) if m["x0"] < INF else ZERO)
        first += lost_by_exp
        logged = first + m["eps_log"] * (ln_2 + first) + m["omega_log"]
        if self.above(self.most_gap + up(inputs)) < 0:
            largest = alone.f["lse_upper"] + lam
        elif self.below(self.least_gap - up(inputs)) > 0:
            largest = size + E
        else:
            largest = max(alone.f["lse_upper"] + lam, size + E)
        xi = up(logged + gamma(m["k_lse"], u) * (largest + ln_2 + logged) + 2 * omega)
        shared = self.moved(up(inputs))
        ln_f = max(ZERO, self.most_gap) + ln_2
        by_lse = up(shared + xi + gamma_x * (ln_f + shared + xi) + eps_hat + lost_argument)
        eta = max(self.moved(delta), by_lse)
        zeta = up(xi * (1 + gamma_x) + eps_hat + lost_argument)
        rounded = gamma(m["k_sink"], u)
        rounded += m["u_sink"] + times(rounded, m["u_sink"])
        grown = self.growth(zeta)
        self.excess = up(grown + rounded + times(grown, rounded))
        left = min(ONE, up(sum(key.wu for key in self.keys[:-1])))
        if eta < 1:
            grown = self.growth(eta)
            Phi = grown + rounded + grown * rounded
            self.off, self.whole = up(left * Phi), up(left * (1 + Phi))
        else:
            self.whole = up(self.exp(min(zeta, self.above(min(ZERO, -self.least_gap) + eta))) * (1 + rounded))
            self.off = max(self.whole, left)
        self.lost_factor = up((lost_by_exp + m["omega_sink"]) * (1 + rounded))
        self.absolute = up((2 * omega + (m["omega_drop"] if self.f["drops"] else 0)) * self.f["kept_factor"])
        self.lse, self.lse_by = up(min(max(lam, E), lam + self.moved(E)) + xi), alone.lse_by
        if not self.only:
            self.lse, self.lse_by = max(self.lse, self.by_term[0]), weaker(self.lse_by, self.by_term[1])

    def of_term(self, method, *arguments):
        """What T1 says: with the LSE of a sink that is a term."""
        kept, self.lse = self.lse, self.by_term[0]
        found = method(*arguments)
        self.lse = kept
        return found

    def rescaled(self, bound, warning, size_alone, size):
        beside = times(self.off, size_alone) + self.absolute + self.lost_factor * (size_alone + bound)
        unrounded = self.up(times(self.whole, bound) + beside)
        rounded = self.rounded_output(unrounded, size)
        usual = (times(self.whole, warning) + beside) * (1 + self.m["u_out"])
        return rounded, unrounded, min(rounded, usual + self.m["u_out"] * size + self.m["omega_out"])

    def output(self, values, mid, radius):
        if not self.asked:
            return super().output(values, mid, radius)
        nothing = INF, INF, INF, NOTHING
        self.reach = None
        keys, kept = self.alone.keys, self.f["kept_factor"]
        center = sum(v * (key.wl + key.wu) / 2 for key, v in zip(keys, values))
        width = sum(abs(v) * (key.wu - key.wl) for key, v in zip(keys, values)) / 2
        if self.widened:
            most = max([ONE] + [abs(v) for v in values])
            width = self.up(2 * width + sum(abs(v) * key.wu for key, v in zip(keys, values)) * self.n * TWO**-50
                            + self.n * TWO**-1072 * most)
        if not self.judged:
            return nothing
        bound, unrounded, warning, by = self.alone.output(values[:-1], center, width)
        if by == NOTHING:
            return nothing
        self.reach = [self.up(max(ZERO, end) * kept + unrounded) for end in (center + width, width - center)]
        if self.widened:
            radius += abs(mid) * TWO**-51
        found = self.rescaled(bound, warning, self.up((abs(center) + width) * kept), (abs(mid) + radius) * kept)
        if found[0] == INF:
            return nothing
        if self.only:
            return *found, by
        *by_term, also = self.of_term(super().output, values, mid, radius)
        if also == NOTHING:
            return nothing
        return *(max(pair) for pair in zip(found, by_term)), weaker(by, also)

    def weight(self, j, second_pass=True):
        if not self.asked:
            return super().weight(j, second_pass)
        if not self.judged or j >= self.real:
            return INF, NOTHING
        bound, by = self.alone.weight(j, second_pass)
        if by == NOTHING:
            return INF, NOTHING
        size, *_ = self.rescaled(bound, bound, self.alone.keys[j].wu, self.keys[j].wu)
        if self.only:
            return size, by
        by_term, also = self.of_term(super().weight, j, second_pass)
        return (INF, NOTHING) if also == NOTHING else (max(size, by_term), weaker(by, also))

    def hull(self, largest):
        if not self.asked:
            return super().hull(largest)
        if not self.judged or self.excess == INF:
            return INF
        lost, slope = self.alone.hull(ZERO), self.alone.hull(ONE)
        bound = (1 + self.excess) * (lost + times(slope, largest)) + (self.excess + self.lost_factor) * largest
        bound = self.rounded_output(self.up(bound + self.absolute), largest)
        return bound if self.only else max(bound, super().hull(largest))
