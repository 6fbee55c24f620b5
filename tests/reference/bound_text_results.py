"""docs/bound.md, sections 5 to 9, written down from the text alone: what follows from the terms of bound_text.py."""
from decimal import Decimal

from bound_text import evaluation
from bound_text_merges import added, largest_part, xi_of_merge
from bound_text_numbers import FOUR_THIRDS, HALF, INF, LARGEST, ONE, TWO, ZERO, gamma, log1p, times

THEOREM, DOMINANCE, NOTHING, EITHER = 0, 1, 2, 3


def smaller_entry(theorem, clause):
    """Which of the two judges; EITHER where they differ by less than an evaluation in doubles can tell."""
    if clause < INF and abs(theorem - clause) <= TWO**-36 * clause + TWO**-1000:
        return EITHER
    return THEOREM if theorem <= clause else DOMINANCE


class results(evaluation):
    def __init__(self, model, facts, keys, form):
        super().__init__(model, facts, keys, form)
        self.chi = ZERO
        if self.judged:
            self.log_sum_exp()
            if model["normalise"] == "first_pass":
                self.again()

    # Section 6, Corollary L.

    def log_sum_exp(self):
        m, f, u, tau = self.m, self.f, self.u, self.m["tau"]
        far_term = 2 * self.n_far * self.far_share
        self.log_theorem = INF
        if not self.padded:
            sum_U = self.up(sum(key.U for key in self.keys))
            upper = sum_U if self.stated else log1p(sum_U)
            if self.stated and sum_U >= 1:
                upper = min(sum_U, self.ln(1 + sum_U))
            lower = INF
            if self.D > 0:
                lower = self.ln(1 / self.D)
                if self.one_minus_D < HALF:  # E4
                    y = self.one_minus_D
                    lower = self.up(y / (1 - y)) if self.stated else min(lower, -log1p(-y))
            for key in self.keys:
                if not key.far and not key.flushed:
                    near = self.ln(1 / key.wl) if key.wl else INF
                    if not self.stated:
                        near = min(near, f["lse_above_max"] - key.xl)
                    lower = min(lower, self.up(near + key.z))
            self.log_theorem = max(upper, lower) + far_term
        offset = max(self.max_above, -self.max_below)
        offset = min(offset, self.largest_E)  # E8
        gaps = [max(ZERO, self.below(self.max_below - key.xu - key.E)) for key in self.keys]
        kappa_star = max([ZERO] + [key.kappa - (1 - self.gamma_x) * gap for key, gap in zip(self.keys, gaps)])
        self.log_hull = INF
        if not self.by_lse:
            self.log_hull = self.up(offset + 2 * tau * (1 + self.gamma_x) + self.ln(Decimal(self.n))
                                    + self.eps_hat + self.R * self.eps_r_hat + self.u_shared + self.underflow
                                    + self.above(kappa_star) + self.n * self.far_share + self.sink_slack)
        least = min(self.log_theorem, self.log_hull) + self.up(self.gamma_L / (1 - self.gamma_L))
        if self.by_sigmoid:
            result = (1 + u) * least + max(xi_of_merge(self, key) for key in self.keys if key.in_L)
        else:
            rounded = gamma(m["k_lse"], u)
            argument = f["lse_above_max"] + offset + tau + least + self.sink_above
            result = least + m["eps_log"] * argument + m["omega_log"]
            result = (1 + max(u, rounded)) * result + rounded * f["lse_upper"]
            result += gamma(m["k_lse"] - 1, u) * self.largest_max
        self.lse = self.up(result + 2 * self.omega)
        self.lse_by = NOTHING if self.lse == INF else smaller_entry(self.log_theorem, self.log_hull)
        if m["normalise"] == "lse":
            for key in self.keys:
                reach = abs(key.xl) + f["lse_above_max"] + key.E + self.lse
                moved = key.kappa + gamma(m["c_m"], u) * (1 + self.gamma_x) * f["lse_above_max"]
                z = self.up(key.E + times(self.gamma_x, reach) + moved + self.eps_hat + self.u_shared + self.underflow)
                if z < 1:
                    key.U_lse = key.wu * self.growth(z)
                else:
                    key.U_lse = self.exp(self.above(key.xu + z)) / f["normaliser_lower"]
                if key.far or key.flushed or self.up(times(1 + self.gamma_x, reach) + moved) > m["x0"]:
                    key.U_lse = max(key.U_lse, key.wu)

    # Section 5, Weights formed again.

    def again(self):
        self.chi = INF
        if self.theorem_holds and self.sum_P < 1:
            self.chi = self.up(2 * self.sum_P / self.D + 2 * self.n_far * self.far_share)
        if self.widened and self.theorem_holds and not self.n_far and max(key.T for key in self.keys) <= self.D / 2:
            return                                             # E6
        y, others = ZERO, ZERO
        for key in self.keys:
            if not key.dominant:
                others += key.eta
            elif self.m["x0"] < INF and (key.far or key.flushed):
                y = INF
            else:
                y = max(y, self.up(2 * self.above(key.z - key.E)))
        if y < 1:
            self.chi = min(self.chi, self.up(self.growth(y) + others + 4 * self.n_far * self.far_share))

    # Section 5.

    def rounded_output(self, bound, size):
        return self.up(bound * (1 + self.m["u_out"]) + self.m["u_out"] * size + self.m["omega_out"])

    def average_error(self, distances, width):
        """A(y) of the |y_j - mid|, where the mean lies within `width` of mid (E7); and whether A^T is the smallest."""
        farthest = max(distances) + width
        by_theorem = INF
        if self.theorem_holds:
            by_theorem = sum(key.P * (away + width) for key, away in zip(self.keys, distances)) / self.D
            by_theorem += self.n_far * self.far_share * farthest
        by_dominance = max(away for key, away in zip(self.keys, distances) if key.dominant) + width
        by_dominance += sum(key.eta * (away + width) for key, away in zip(self.keys, distances) if not key.dominant)
        least = min(by_theorem, farthest, by_dominance)
        return self.up(least), smaller_entry(by_theorem, min(farthest, by_dominance))

    def output(self, values, mid, radius):
        """B_c after and before the rounding to the output format, and W_c."""
        m, u, n, keys, omega = self.m, self.u, self.n, self.keys, self.omega
        sizes = [abs(v) for v in values]
        largest, total = max(sizes), self.up(sum(sizes))
        if self.widened:
            radius += abs(mid) * TWO**-51  # E7, o_c as doubles
        o = abs(mid) + radius
        kept = self.f["kept_factor"]
        if not self.judged or self.range_of_sum * largest * kept >= m["format.h0_limit"]:
            return INF, INF, INF, NOTHING
        if self.f["drops"] and m["u_drop"] > 0 and largest * kept >= m["out_limit"]:
            return INF, INF, INF, NOTHING
        if self.chi == INF:
            return INF, INF, INF, NOTHING
        underflow = n * TWO**-1074 * max(ONE, largest) if self.widened else ZERO
        high = self.up(sum(key.wu * size for key, size in zip(keys, sizes))) + underflow
        low = sum(key.wl * size for key, size in zip(keys, sizes)) * (2 - self.slack)
        distances = [abs(v - mid) for v in values]
        A, by = self.average_error(distances, radius)
        average, width = (high + low) / 2, (high - low) / 2
        A_sizes, _ = self.average_error([abs(size - average) for size in sizes], width)
        A += underflow
        A_prime = self.up(high + A_sizes + underflow)

        Omega_O = self.up((self.lost + FOUR_THIRDS * self.states * m["omega_state"]
                           + m["omega_p"] * self.kappa_p * total
                           + (FOUR_THIRDS * omega * total if m["k_pre"] else ZERO)
                           + self.lost_dropped * (FOUR_THIRDS + self.kappa_drop * total)) * (1 + self.gamma_states))
        Phi = times(self.gamma_O, A_prime)
        if not m["promote"]:
            nodes = min(self.h_O * A_prime,
                        times(self.nu_O, (A_prime + o + A) / 2 + times(self.gamma_h + self.u_p + self.delta, A_prime)))
            if self.u_pv == u:
                nodes = min(nodes, max(A_prime, largest) * self.M_L + 2 * n * Omega_O / u)
            shared = sum((times(key.share, key.path, size) for key, size in zip(keys, sizes)), ZERO)
            Phi = min(Phi, shared + times((1 + self.u_p) * (1 + self.gamma_h)**2 * self.u_pv * (1 + self.delta), nodes))
        if self.widened:
            Phi *= 1 + TWO**-40  # E8
        Phi = self.up(Phi + times(self.combine, 1 + self.delta, A_prime))
        merging = added(self, largest, total)
        if self.states and self.up(largest_part(self, largest, total) + merging) * kept >= m["state_limit"]:
            return INF, INF, INF, NOTHING
        if m["normalise"] == "lse":
            grown = self.growth(self.lse) if self.lse < INF else INF
            if times(1 + grown, max(key.U_lse for key in keys)) > LARGEST or self.gamma_O == INF:
                return INF, INF, INF, NOTHING
            whole, tree = 1 + grown, self.gamma_O
            spread = sum((times(key.U_lse, size) for key, size in zip(keys, sizes)), ZERO)
            by = THEOREM
            bound = self.up(grown * o + whole * (1 + tree) * spread + whole * tree * high + 4 * n * omega
                            + 2 * n * self.omega_W * largest + FOUR_THIRDS * m["omega_p"] * total)
        else:
            A = self.up(A + times(o + A, self.chi))
            Phi = self.up(times(Phi, 1 + self.chi))
            bound = self.up(A + ((1 + self.gamma_F) * (Phi + Omega_O) + (o + A) * (self.gamma_L + self.gamma_F))
                            / (1 - self.gamma_L) + 2 * omega + merging)
        unrounded = bound * kept
        rounded = self.rounded_output(unrounded, o * kept)
        warning = self.warning(distances, mid, radius if self.widened else ZERO, A_prime, Omega_O + merging, rounded)
        return rounded, unrounded, warning, by if rounded < INF else NOTHING

    # Section 9.

    def equal_scores(self, key):
        """gamma_j: 1 at least; the widened form takes scores as equal that may round alike."""
        if not self.widened:
            return 1
        equal = sum(1 for other in self.keys if abs(other.high - key.high) <= TWO**-46 * abs(key.high))
        return equal if equal > 6 else 1

    def warning(self, distances, mid, radius, A_prime, Omega_O, bound):
        m, u, n, c, o = self.m, self.u, self.n, self.f["softcap"], abs(mid) + radius
        if bound == INF:
            return INF
        two_thirds = self.u_p**2 * 2 / 3
        V = squares = ZERO
        groups = 0
        blur = abs(mid) * (TWO**-51 if self.widened else -TWO**-51)  # E7, o_c as doubles
        for key, distance in zip(self.keys, distances):
            away = max(ZERO, distance + blur)
            group = self.equal_scores(key)
            t = self.k_qk * (self.u_qk * key.S)**2 + (u * key.xl)**2 + m["eps"]**2 + m["k_add"] * (u * key.s)**2
            t += (m["u_s"] * key.s)**2 + (m["g_b"] * key.bias)**2 + n * key.lost**2
            if c:
                t += (m["e_c"] * min(c, key.S) + c * m["a_t"] + (1 + c) * self.omega)**2
            spread = key.wu**2 * t if key.z < 1 else key.P**2
            V += group * away**2 * (spread + key.wu**2 * two_thirds)
            squares += group * key.wu**2
            groups += group
        V += two_thirds * o**2 * squares + times(u**2 / 3 * (groups + self.R) + self.delta**2, (A_prime + o)**2)
        V += ((m["k_f"] + m["k_pre"]) * u * o)**2
        drift = ZERO
        if self.u_pv > u:
            drift = (self.h_O + self.R) * self.u_pv * (o + A_prime) / Decimal(n).sqrt()
        common = (self.gamma_C + self.chi) * o + (self.growth(self.lse) * o if m["normalise"] == "lse" else ZERO)
        usual = 6 * V.sqrt() + m["u_out"] * o + drift + common + Omega_O + 2 * self.omega
        return min(bound, usual * self.f["kept_factor"] + m["omega_out"])

    # Section 6, Corollary W.

    def weight(self, j, second_pass=True):
        """`second_pass` is false where rounding has made A^T the larger entry: then the first bound alone is taken."""
        m, key, omega = self.m, self.keys[j], self.omega
        pi = key.wu
        if not self.judged or self.gamma_W == INF or self.chi == INF:
            return INF, NOTHING
        if m["normalise"] == "lse":
            grown = self.growth(self.lse) if self.lse < INF else INF
            if times(1 + grown, key.U_lse) > LARGEST:
                return INF, NOTHING
            exact = grown * pi + (1 + grown) * key.U_lse
            narrow = 0 if m["returned_weights"] == "unrounded" else m["u_p"]
            bound = self.up(exact + narrow * (pi + exact) + 2 * omega + self.omega_W + m["omega_p"])
            return self.rounded_output(bound, pi), THEOREM if bound < INF else NOTHING
        by_clause = max(pi, key.eta)
        by_theorem = INF
        if self.theorem_holds:
            by_theorem = ((1 - key.wl) * key.P + pi * (self.sum_P - key.P)) / self.D + self.n_far * self.far_share
            by_theorem = self.up(by_theorem)
        A = min(ONE, by_theorem, by_clause)
        by = smaller_entry(by_theorem, min(ONE, by_clause))
        sharp = by == THEOREM or self.widened and by == EITHER
        if second_pass and not sharp and key.eta >= 1:
            A = self.up(self.exp(self.eta_plus + 2 * self.theta + self.merges_of_L) + self.far_share)
        A += times(pi + A, self.chi)
        bound = A + (pi + A) * (self.gamma_L + self.gamma_W) / (1 - self.gamma_L) + 2 * omega + self.alpha_W
        if second_pass and sharp:
            sum_U = self.up(sum(key.U for key in self.keys)) + self.n_far * self.far_share
            off_sum = max(self.one_minus_D, min(ONE, sum_U))
            again = key.P * (1 + self.gamma_W) + pi * (self.gamma_W + off_sum + self.gamma_L)
            again = again / (self.D * (1 - self.gamma_L)) + self.far_share + 2 * omega + self.alpha_W
            bound = max(bound, again)
        return self.rounded_output(self.up(bound), pi), by

    # Section 7, Clause H.

    def hull(self, largest):
        m = self.m
        if not self.judged or m["normalise"] == "lse" or self.chi == INF:
            return INF
        gamma_O = self.gamma_O + times(self.combine, 1 + self.delta)
        if gamma_O == INF:
            return INF
        sums = (1 + self.gamma_F) * (gamma_O + self.gamma_L + self.gamma_F) / (1 - self.gamma_L)
        sums = sums * (1 + self.chi) + self.chi
        kept = self.f["kept_factor"]
        lost = self.lost + FOUR_THIRDS * (self.states * m["omega_state"] + self.lost_dropped)
        narrow = (m["omega_p"] + self.lost_dropped) / self.least_sum + (self.omega if m["k_pre"] else 0)
        lost = lost * kept + FOUR_THIRDS * narrow * self.n * largest
        whole = 1 - self.gamma_L if m["merge"] == "lse_normalised" else ONE
        bound = times(sums, largest) + lost * (1 + self.gamma_states) / whole
        bound += added(self, largest, self.n * largest) * kept
        return self.rounded_output(self.up(bound + 2 * self.omega * kept), largest)

    # Section 8, Dull elements: whether a bound that is known admits a wrong answer; None where that is too close.

    def dull_output(self, values, mid, radius, bound):
        rounding = (self.m["u_out"] or self.u) * abs(mid)
        blur = radius + abs(mid) * TWO**-50 + max(abs(v) for v in values) * TWO**-50
        most = max(key.wu for key in self.keys)
        answers = [(abs(sum(values) / self.n - mid),) * 2]
        if self.n == 1:
            answers.append((abs(mid),) * 2)                    # nothing is left of O
        heaviest = [[], []]
        for key, v in zip(self.keys, values):
            if self.n > 1 and key.wu >= most * (1 - TWO**-36):
                for ends, pi, off in zip(heaviest, (key.wl, key.wu), (-blur, blur)):
                    ends.append(times(max(ZERO, abs(v - mid) + off), pi / (1 - pi) if pi < 1 else INF))
        if self.n > 1:
            answers.append((min(heaviest[0]), max(heaviest[1])))
        least = most = False
        for low, high in answers:
            low, high = low * (1 - TWO**-36) - blur, high * (1 + TWO**-36) + blur
            least = least or (rounding < low and high <= bound)
            most = most or (rounding < high and low <= bound)
        return least if least == most else None

    def dull_size(self, least, bound):
        """B >= least with n >= 2, of the LSE (ln n) and of a weight (max(pi, 1 - pi))."""
        return None if abs(bound - least) <= TWO**-36 * least else self.n > 1 and bound >= least
