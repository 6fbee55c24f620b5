"""Numbers of bound_from_text.py: 60 decimal digits, and the functions that its sections share."""
from decimal import Decimal, getcontext

getcontext().prec = 60
getcontext().Emin, getcontext().Emax = -10**9, 10**9
ZERO, ONE, INF = Decimal(0), Decimal(1), Decimal("Infinity")


def number(text):
    return Decimal(float.fromhex(text))


def read(x):
    if isinstance(x, dict):
        return {key: read(value) for key, value in x.items()}
    return [read(value) for value in x] if isinstance(x, list) else number(x)


def times(a, b):
    return ZERO if a == 0 or b == 0 else a * b


def gamma(k, u):
    return k * u / (1 - k * u) if k * u < 1 else INF


def gw(k, u):
    return gamma(k, u) if k * u <= Decimal("0.2") else INF


def exp(x):
    return x.exp() if x < 10**6 else INF


def grown(z):
    """e^z - 1, as G1 states it: z/(1 - z/2) for z < 1, else e^z."""
    return z / (1 - z / 2) if z < 1 else exp(z)


def loss(e):
    """-ln(1 - e), as G1 states it."""
    return e / (1 - e)


def plus(*terms):
    """a (+) b (+) ... = (1 + a)(1 + b)... - 1"""
    product = ONE
    for term in terms:
        product *= 1 + term
    return product - 1


def tanh(x):
    e = (-2 * abs(x)).exp()
    return ((1 - e) / (1 + e)).copy_sign(x)
