"""The numbers in which docs/bound.md is evaluated: 50 decimal digits, and functions that keep them near 0."""
from decimal import Decimal, DivisionByZero, Overflow, getcontext

context = getcontext()
context.prec = 50
context.Emax, context.Emin = 10**17, -(10**17)
context.traps[Overflow] = context.traps[DivisionByZero] = False

ZERO, ONE, TWO, HALF, INF = Decimal(0), Decimal(1), Decimal(2), Decimal("0.5"), Decimal("Infinity")
FOUR_THIRDS = Decimal(4) / 3
LARGEST = TWO**1022          # beyond it an evaluation in doubles may be infinite


def gamma(k, u):
    ku = k * u
    return INF if ku >= 1 else ku / (1 - ku)


def times(*factors):
    """The product, 0 where a factor is 0 even beside an infinite one."""
    product = ONE
    for factor in factors:
        if not factor:
            return ZERO
        product *= factor
    return product


def expm1(x):
    if x > Decimal("1e-8"):
        return x.exp() - 1
    return x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6)))))


def log1p(x):
    if abs(x) > Decimal("1e-8"):
        return (1 + x).ln()
    return x * (1 - x * (HALF - x * (ONE / 3 - x * (ONE / 4 - x * (ONE / 5 - x / 6)))))


def ceil_quotient(a, b):
    return -(-a // b)


def records(low, high, order):
    """rec_j of section 3 along `order`: 0, or 1 + rec_i of the first later i with s_i + E_i > s_j - E_j."""
    found = {}
    for at in range(len(order) - 1, -1, -1):
        j = order[at]
        found[j] = 0
        for i in order[at + 1:]:
            if high[i] > low[j]:
                found[j] = 1 + found[i]
                break
    return found


def most_records(low, high, indices):
    """The largest rec_j of each key over the walks of 1, 2, 4, ..., 64 lanes, rising and falling."""
    most = [0] * len(indices)
    for lanes in (1, 2, 4, 8, 16, 32, 64):
        for lane in range(lanes):
            walk = [j for j, index in enumerate(indices) if index % lanes == lane]
            for order in (walk, walk[::-1]):
                for j, count in records(low, high, order).items():
                    most[j] = max(most[j], count)
    return most
