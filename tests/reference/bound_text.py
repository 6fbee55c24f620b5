"""docs/bound.md, sections 2 and 3, written down from the text alone, with 50 decimal digits.

An `evaluation` is one row under one kernel model, in one of three forms, each at least the one before:

  text     the formulas themselves
  stated   with what E3, E4 and E11 put in their place: T_j = z_j/(1 - z_j/2) where z_j < 1; eps/(1 - eps) for a
           logarithm; sum U for ln(1 + sum U) where it is below 1; y/(1 - y) with y = 1 - D for -ln D where y < 1/2;
           1/(1 - (M+ - m)) for e^{M+ - m}; g = g+ = max kappa_j where that is at most 1/2
  widened  with what rounding may add to that in doubles: every stage times `slack` (E1), sums of numbers of both signs
           2^-50 outward (E2), exp times 1 + 2^-40, ln plus 2^-40*(1 + |ln|), sqrt|sigma| and Phi_c times 1 + 2^-40
           (E3, E8), M_L plus n*2^-50, U_j plus 2^-1074, o_c blurred by 2^-51 (E7)
"""
from bound_text_hypotheses import failures
from bound_text_numbers import (FOUR_THIRDS, HALF, INF, ONE, TWO, ZERO, Decimal, ceil_quotient, expm1, gamma, log1p,
                                most_records, times)
from bound_text_units import of_products, of_sums
from bound_text_merges import is_by_sigmoid, mu_of, sigma, weights as weights_by_sigmoids, without_division


class evaluation:
    def __init__(self, model, facts, keys, form):
        self.m, self.f, self.keys = model, facts, keys
        self.stated, self.widened = form != "text", form == "widened"
        self.n = len(keys)
        self.S, self.mu = model["splits"], model["merge_levels"]
        if model["parts_are_keys"]:
            self.S, self.mu = self.n, min(self.mu, facts["m"])
        self.has_sink = facts["has_sink"]                      # the last key is the sink
        self.real = self.n - self.has_sink
        self.slack = 1 + Decimal(16 * self.n + 8 * facts["d"] + 64) / 2**53 if self.widened else ONE
        self.by_lse, self.by_sigmoid = model["merge"] != "raw", is_by_sigmoid(model)
        self.sums_nothing = self.by_sigmoid and model["parts_are_keys"]
        self.u, self.omega = model["format.u"], model["format.omega"]
        self.scores()
        if self.largest_E == INF:                              # M- > m - Theta/8 fails
            self.judged, self.failures = False, ["H0.6"]
            return
        self.references()
        self.rescales()
        self.weights()
        self.dominance()
        self.sums()
        self.failures = failures(self)
        self.judged = not self.failures
        self.theorem_holds = self.judged and not self.padded and self.D > 0

    # E1, E2, E3: what a widened evaluation may add.

    def up(self, x):
        return x * self.slack

    def both(self, a, b):                                      # (1 + a)(1 + b) - 1
        return self.up(a + b + times(a, b))

    def above(self, x):
        return x + abs(x) * Decimal(2)**-50 if self.widened else x

    def below(self, x):
        return x - abs(x) * Decimal(2)**-50 if self.widened else x

    def exp(self, x):
        if not self.widened:
            return x.exp()
        return INF if x > 709 else x.exp() * (1 + TWO**-40) + TWO**-1074

    def ln(self, x):
        log = x.ln()
        return log + TWO**-40 * (1 + abs(log)) if self.widened else log

    def growth(self, z):
        """e^z - 1"""
        if not self.stated:
            return expm1(z)
        if not self.widened and z >= 1:
            return z.exp()
        return self.up(z / (1 - z / 2) if z < 1 else self.exp(self.above(z)))

    # Section 3, Scores.

    def scores(self):
        m, f, u, omega = self.m, self.f, self.u, self.omega
        d, sigma, c = f["d"], f["scale_upper"], f["softcap"]
        self.k_qk, self.u_qk = of_products(self)
        product = gamma(self.k_qk, self.u_qk)
        e_s = gamma(m["k_add"], u)
        e_s = e_s + m["u_s"] + times(e_s, m["u_s"])
        sigma_plus = max(ONE, sigma) if m["fold_q"] or m["fold_k"] else sigma
        rooted = max(ONE, sigma.sqrt() * (1 + TWO**-40 if self.widened else 1))
        f_q = rooted if m["fold_k"] else ZERO
        f_k = rooted if m["fold_k"] else ONE if m["fold_q"] else ZERO
        for key in self.keys:
            Q, b = key.Q, abs(key.bias)
            key.S = S = self.up(sigma * Q)
            beta = (1 + m["g_b"]) * b if m["bias_first"] and not c else ZERO
            norms = f["query_norm"] + key.norm
            underflow = omega * (2 * d * sigma_plus + 2 + 2 * Q) + omega * (f_q * f["query_norm"] + f_k * key.norm)
            if m["flushes"]:
                underflow += omega * (sigma * norms + 1)
            key.lost = underflow + m["omega_s"]
            E = times(product, S + beta) + underflow
            if c:
                E = (1 + m["e_c"]) * E + m["e_c"] * min(c, S) + c * m["a_t"] + (1 + c) * omega
            key.E = self.up((1 + e_s) * (E + m["g_b"] * b) + e_s * key.s + m["omega_s"])
            key.is_sink = self.has_sink and key is self.keys[-1]
            if key.is_sink:
                relative = gamma(m["k_t"], u)
                relative += m["u_t"] + times(relative, m["u_t"])
                stored = (1 + m["u_s"]) * (times(relative, b) + m["omega_t"] + 2 * omega) + m["u_s"] * b + m["omega_s"]
                key.E = max(key.E, self.up(stored))
            key.high, key.low = self.above(key.xu + key.E), self.below(key.xl - key.E)
        self.max_above = max(key.high for key in self.keys)   # M+ - m
        self.max_below = max(key.low for key in self.keys)    # M- - m
        self.largest_E = max(key.E for key in self.keys)
        self.largest_max = self.above(f["max_upper"] + max(abs(self.max_above), abs(self.max_below)))
        self.sink()
        for key in self.keys:
            key.in_L = key.high >= self.keys_below
            key.under_bias = key.bias <= -(key.S + key.E) and not key.is_sink
            key.masked = not key.in_L and (key.under_bias or key.is_sink)

    # Section 3, A sink.

    def sink(self):
        """M_K+ - m, M_K- - m, and by how much the sink may exceed M_K- where a kernel may add it at the end."""
        self.keys_below, self.sink_above, self.beyond_limit = self.max_below, ZERO, False
        if not self.has_sink:
            return
        self.keys_below = -INF
        if self.real == 0:
            return
        sink, f = self.keys[-1], self.f
        self.keys_below = max(key.low for key in self.keys[:-1])
        keys_above = max(key.high for key in self.keys[:-1])
        over = self.above(self.above(sink.xu + sink.E) - self.keys_below)
        self.beyond_limit = over > self.m["sink_limit"]
        factor = gamma(self.m["c_m"], self.u) * (1 + gamma(self.m["k_x"], self.u))
        reach = f["max_upper"] + max(abs(keys_above), abs(self.keys_below), -sink.xl) + sink.E
        far = self.m["format.far"] + 2 + (2 * factor * reach if factor else 0)
        if self.below(self.below(sink.xl - sink.E) - keys_above) <= far:
            self.sink_above = max(ZERO, over)
        if self.sink_above > 0:
            beside = self.above(f["max_upper"] + max(abs(keys_above), abs(self.keys_below)))
            self.largest_max = max(self.largest_max, beside)

    # Section 3, Reference.

    def references(self):
        m = self.m
        tau, S = m["tau"], self.S
        self.gamma_x = ZERO if self.sums_nothing else gamma(m["k_x"], self.u)
        factor = gamma(m["c_m"], self.u) * (1 + self.gamma_x)
        for key in self.keys:
            key.Y = max(key.s + key.E + tau, self.largest_max)
            key.kappa = self.up(factor * key.Y)
        far = m["format.far"]
        self.limit = far * Decimal(0.66666)                    # Lambda_x
        largest = max(key.kappa for key in self.keys)
        stable = m["large_scores"] == "stable"
        candidates = [key for key in self.keys if key.in_L]
        g = max(key.kappa for key in candidates)
        # Section 2, Finite masks: padding.
        self.padded = not stable and g > self.limit and all(key.under_bias for key in candidates)
        self.stable = stable or self.padded
        for key in self.keys:
            key.G = ZERO if self.stable else key.kappa
        self.g = max(key.G for key in (self.keys if self.by_sigmoid else candidates) if key.in_L or not key.masked)
        self.g_plus = max(key.G for key in self.keys if not key.masked)
        if self.stated and largest <= HALF and not self.by_lse and not self.stable:
            self.g = self.g_plus = largest  # E11
        self.raw_merges = max(S - 1 if m["merge"] == "raw" else 0, m["merges"])
        rescaled = m["unchanged_rescale"] == "rounded" or tau > 0 and self.raw_merges
        self.kept = Decimal("0.75") if rescaled else ONE
        self.least_sum = self.kept * HALF * min(ONE, (HALF - self.g).exp()) / self.slack
        self.least_sum /= 1 + TWO**-40 if self.widened else 1
        self.theta = min(HALF if self.stable else self.limit, largest)
        raised = self.exp(tau + self.theta)
        self.omega_W = self.up(m["format.omega_w"] * raised)
        if m["p_shared"] and m["u_p"] > 0:
            self.omega_W = max(self.omega_W, self.up(2 * m["omega_p"] * raised))
        self.far_share = self.up(self.omega_W / self.least_sum)

    # Section 3, Rescales.

    def rescales(self):
        m, N, S = self.m, self.f["m"], self.S
        self.key_blocks = ceil_quotient(N, m["block"])
        unknown = N if m["unchanged_rescale"] == "rounded" else self.n
        self.blocks = {"none": 1, "per_block": self.key_blocks, "rank_of_score": unknown}[m["rescales"]]
        most = 0 if self.sums_nothing else self.blocks - 1 + max(S - 1, m["merges"]) + self.has_sink
        lazy = self.raw_merges if m["tau"] > 0 else 0
        low, high = [key.low for key in self.keys], [key.high for key in self.keys]
        recorded = [0] * self.n
        if m["order"] == "index" and m["unchanged_rescale"] == "exact":
            recorded = most_records(low, high, [key.index for key in self.keys[:self.real]]) + recorded[self.real:]
        if self.has_sink:
            above = [recorded[j] for j in range(self.real) if high[j] > low[-1]]
            for j in range(self.real):
                recorded[j] += high[-1] > low[j]
            recorded[-1] = max(above, default=0)
        for j, key in enumerate(self.keys):
            rank = sum(1 for i in range(self.n) if i != j and high[i] > low[j]) + lazy
            key.R = min(rank, most)
            if m["order"] == "index":
                ordered = m["merges"] + max(recorded[j], ceil_quotient(N, m["least_block"]) - 1)
                key.R = min(key.R, ordered + key.is_sink)
            if m["unchanged_rescale"] == "rounded":
                key.R = most
        self.R = max(key.R for key in self.keys)

    # Section 3, Weights.

    def weights(self):
        m, u, omega, slack = self.m, self.u, self.omega, self.slack
        tau, k_x, gamma_x, eps = m["tau"], m["k_x"], self.gamma_x, m["eps"]
        self.u_shared = ZERO
        if m["p_shared"]:
            self.u_shared = m["u_p"] / (1 - m["u_p"]) if self.stated else -log1p(-m["u_p"])
        self.eps_r = m["eps_rescale"] or eps
        self.eps_hat, self.eps_r_hat = (e / (1 - e) if self.stated else -log1p(-e) for e in (eps, self.eps_r))
        if self.sums_nothing:                                  # Lemma 8: no exp of a score
            self.eps_hat = self.eps_r_hat = ZERO
        self.ell = ZERO
        if self.by_lse:
            kappa_L = max(key.kappa for key in self.keys if key.in_L)
            self.ell = (1 + 2 * gamma_x) * (self.ln(Decimal(self.n)) + tau) + Decimal("1.5") + kappa_L
        ell, k_lse = self.ell, m["k_lse"]
        self.lost_argument = k_x * omega if m["flushes"] or k_x > 1 else ZERO
        self.underflow = (self.R + 1) * self.lost_argument
        far_P = m["format.far"]
        if m["p_shared"] and m["u_p"] > 0 and m["omega_p"] > 0:
            far_P = min(far_P, -self.ln(m["omega_p"] / m["u_p"]))
        self.far_P = far_P
        theta_limit = m["format.h0_limit"]
        lost = TWO**-1073 if self.widened else ZERO            # E1: 2^-1074, in two roundings
        for key in self.keys:
            key.xi = key.mu = key.ell = ZERO
            if self.by_lse:
                key.xi = gamma(max(k_lse, 2), u) * (key.Y + ell + key.kappa)
                key.xi += m["eps_log"] * (ell + key.kappa) + m["omega_log"]
                key.mu = mu_of(self, key)
                key.ell = ell + key.kappa + key.mu
            key.X = self.up(self.above(self.max_above - key.xl) + key.E + 2 * tau * (1 + 2 * u) + key.ell)
            below = key.X                                      # how far an argument may lie below 0
            if key.is_sink:
                key.X = max(key.X, self.up(self.above(self.sink_above + 2 * tau * (1 + 2 * u) + key.ell)))
            key.z = self.up(key.E + gamma_x * key.X + key.kappa + self.eps_hat + key.R * self.eps_r_hat
                            + self.u_shared + self.underflow + key.mu)
            reach = self.up((1 + gamma_x) * below + key.kappa + self.lost_argument)
            key.far = reach > far_P
            key.flushed = reach > m["x0"] or self.below(key.xl + key.E) < self.max_below - theta_limit / 64
            if key.z < 1:
                key.T = self.growth(key.z)
                if key.flushed:
                    key.T = max(key.T, ONE)
                key.U = key.P = self.up(key.wu * key.T) + lost
            else:
                key.T = INF
                key.U = self.up(self.exp(self.above(key.xu + key.z)) / self.f["normaliser_lower"]) + lost
                key.P = min(ONE, key.U)
            key.counted = key.z < 1 and not key.far and not key.flushed
        self.sink_slack = ZERO
        if self.has_sink:
            self.sink_slack = self.up(self.above(gamma_x * self.keys[-1].X + self.keys[-1].kappa))
        self.n_far = sum(1 for key in self.keys if key.far)
        self.D = sum((key.wl / (1 + key.T) for key in self.keys if key.counted), ZERO) * (2 - slack)
        self.one_minus_D = self.up(sum(key.wu * min(ONE, key.T) if key.counted else key.wu for key in self.keys))   # E4
        if not self.stated:
            self.one_minus_D = sum(key.wu * key.T / (1 + key.T) if key.counted else key.wu for key in self.keys)
        self.sum_P = self.up(sum(key.P for key in self.keys))
        for key in self.keys:
            key.share = ONE
            if self.D > 0:
                key.share = min(ONE, self.up((key.wu + key.P) / self.D + (self.far_share if key.far else 0)))

    # Section 3, Dominance.

    def dominance(self):
        tau, gamma_x = self.m["tau"], self.gamma_x
        self.mu_of_L = max(key.mu for key in self.keys if key.in_L)
        for key in self.keys:
            key.merges = key.mu + gamma_x * (key.kappa + key.mu) if self.by_lse else ZERO
        self.merges_of_L = max(key.merges for key in self.keys if key.in_L)
        of_exp = self.eps_hat + self.R * self.eps_r_hat
        self.eta_plus = self.up(2 * gamma_x * (2 * tau + self.ell) + 2 * of_exp + 2 * self.u_shared
                                + 2 * self.underflow + self.merges_of_L)
        for key in self.keys:
            key.e = self.above(key.E + (1 + 2 * gamma_x) * key.kappa)
        top = max(self.below(key.xl - key.e) for key in self.keys)
        for key in self.keys:
            gap = self.below(top - self.above(key.xu + key.e))
            key.dominant = gap <= 0
            key.eta = ONE
            if not key.dominant:
                exponent = self.above(-gap * (1 - 2 * gamma_x) * (2 - self.slack) + self.eta_plus + key.merges)
                key.eta = self.up(min(ONE, self.exp(exponent)) + self.far_share)

    # Section 3, Sums.

    def sums(self):
        m, u, n, S, R = self.m, self.u, self.n, self.S, self.R
        chain = 0 if self.sums_nothing else n - 1
        declared = ceil_quotient(self.f["m"], m["height_divisor"]) + m["height_base"]
        self.h = min(chain, {"in_sequence": chain, "block_local": m["block"] + self.key_blocks - 2 + self.has_sink,
                             "declared": declared + self.has_sink}[m["height"]])
        self.h_L = self.h
        if m["l_height_divisor"]:
            declared = ceil_quotient(self.f["m"], m["l_height_divisor"]) + m["l_height_base"]
            self.h_L = min(chain, declared + self.has_sink)
        h, h_L, k_F, mu = self.h, self.h_L, m["k_f"], self.mu
        self.s = s = 0 if self.by_sigmoid else S if S > 1 and not self.by_lse else S - 1
        self.divisions = m["k_block"] * (ceil_quotient(self.f["m"], m["divided_block"]) - 1)
        s_O = (S - 1 + mu * (k_F + 1) if self.by_lse else s) + self.divisions
        if self.by_sigmoid:
            s_O = self.divisions + (0 if self.sums_nothing else k_F)
        self.u_p = self.both(ZERO if m["p_shared"] else m["u_p"], m["u_v"])
        self.h_O, self.nu_O, self.u_pv = of_sums(self)
        k = R + 1 + m["k_pre"] + s_O

        ordered = sorted((key.share for key in self.keys), reverse=True)
        self.M_L = self.up(sum((min(ONE, n * share / u) for share in ordered[1:]), ZERO))
        if self.widened:
            self.M_L += n * TWO**-50 + (self.slack - 1)        # the sum less its largest term
        whole = gamma(h_L + R + s, u)
        by_path = sum((times(key.share, gamma(h_L + key.R + s, u)) for key in self.keys), ZERO)
        by_node = sum((times(key.share, gamma(key.R + s, u)) for key in self.keys), ZERO)
        self.lossy = n + S + self.divisions + (self.f["m"] if m["unchanged_rescale"] == "rounded" else 0)   # n_omega
        self.lost = self.up(4 * self.lossy * self.omega / self.least_sum)                                  # omega_L
        by_node += times((1 + whole)**2, u, self.M_L) + 2 * n * self.lost
        self.gamma_L = self.up(min(whole, by_path, by_node) + self.lost)
        if promote := m["promote"]:
            inside, across = gamma(min(h, promote), self.u_pv), gamma(ceil_quotient(h, promote) + k, u)
            self.gamma_h = inside + across + times(inside, across)
        else:
            self.gamma_h = gamma(self.h_O + k, self.u_pv)
        self.gamma_h, self.gamma_k = self.up(self.gamma_h), gamma(k, self.u_pv)
        self.gamma_O = self.both(self.u_p, self.gamma_h)
        factor = self.both(self.both(gamma(m["k_drop"], u), m["u_drop"]), gamma(self.f["kept_factor"] - 1, m["u_rate"]))
        self.wide, self.lost_dropped = (factor, m["omega_drop"]) if self.f["drops"] else (ZERO, ZERO)
        rounds = max(m["u_state"], m["omega_state"]) > 0
        self.states = (min(mu - 1, n) if m["parts_are_keys"] else mu) * (self.by_lse and rounds)
        self.gamma_states = gamma(self.states, m["u_state"])
        self.sigma, self.lost_when_mixed = sigma(self)
        on_paths = ZERO if self.by_sigmoid else self.gamma_states
        self.delta = self.both(self.wide, on_paths)
        self.gamma_O = self.both(self.gamma_O, self.delta)
        for key in self.keys:
            path = gamma(key.R + 1 + m["k_pre"] + s_O, self.u_pv)
            key.path = self.both(self.both(self.u_p, path), self.delta)
        self.gamma_F = ZERO if self.by_sigmoid else gamma(k_F, u)

        # e^{M+ - m}/(Z*D), E3.
        if self.stated:
            above = 1 / (1 - self.max_above) if self.max_above < 1 else INF
        else:
            above = self.max_above.exp()
        beside_sum = 1 / self.least_sum
        if self.D > 0:
            beside_sum = min(beside_sum, self.up(above / (self.f["normaliser_lower"] * self.D)))
        self.beside_sum = beside_sum
        before = {"no": beside_sum, "yes": ONE, "unknown": max(ONE, beside_sum)}[m["p_normalised"]]
        self.kappa_p = FOUR_THIRDS * before
        self.kappa_drop = FOUR_THIRDS * max(ONE, beside_sum)

        self.combine, self.gamma_C = ZERO, ZERO
        if m["merge"] == "lse_normalised":
            self.combine, self.gamma_C = without_division(self, mu)
            self.gamma_L = self.both(self.gamma_L, self.gamma_C)
            self.gamma_F = ZERO

        rounded = m["returned_weights"] != "unrounded" and not m["p_shared"]
        of_sigmoids, lost_by_sigmoids = weights_by_sigmoids(self)
        division = gamma(k_F, u) if self.by_sigmoid else self.gamma_F
        division = self.both(division, of_sigmoids) if self.by_sigmoid else division
        self.gamma_W = self.both(division, m["u_p"]) if rounded else division
        self.alpha_W = self.up(times(m["omega_p"], FOUR_THIRDS, max(ONE, beside_sum))) if rounded else ZERO
        self.alpha_W += lost_by_sigmoids
