"""docs/bound.md, Lemma 9 and what section 3 takes from it, written down from the text alone: matrix units."""
from decimal import Decimal

from bound_text_numbers import TWO, ceil_quotient


def of_steps(m, products, numbers, further):
    """What the steps of a unit lose, in units of 2u of the sums of sizes that they add."""
    cut = TWO**-m["alignment_bits"]
    steps = min(products, ceil_quotient(numbers, m["block_fma"]) + further)
    return products * cut + steps * (1 - cut)


def of_products(e):
    """k_qk and u_qk."""
    m, u = e.m, e.u
    products = e.f["nonzero" if m["zero_products"] == "exact" else "d"]
    on_path, u_qk = Decimal(m["k_qk_per_d"] * products), m["u_qk"] or u
    if m["block_fma"]:
        on_path, u_qk = min(on_path, of_steps(m, products, e.f["d"], 0)), max(u_qk, 2 * u)
    return on_path + m["k_qk_base"], u_qk


def of_sums(e):
    """h_O, nu_O and u_pv."""
    m, n = e.m, e.n
    h_O, nu_O, u_pv = e.h, n - 1, max(m["u_pv"], 2 * e.u if m["block_fma"] else e.u)
    if m["block_fma"] and m["height"] == "in_sequence" and not m["promote"] and m["u_p"] >= TWO**-11:
        h_O = min(h_O, of_steps(m, n, e.f["m"], e.has_sink) + e.divisions + m["merges"])
        if e.S == 1 and not m["merges"]:
            nu_O = min(nu_O, h_O)
    return h_O, nu_O, u_pv
