"""Student's t: how far a mean may lie off by chance, for few values. Standard formulas, no table."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

_TINY = 1e-300
_CLOSE = 1e-12
_TERMS = 300
_HALVINGS = 48


def cdf(t: float, df: float) -> float:
    """Return the share of Student's distribution below `t`; `df` need not be whole."""
    tail = 0.5 * _beta(df / (df + t * t), df / 2, 0.5)
    return 1 - tail if t > 0 else tail


@lru_cache(4096)
def quantile(share: float, df: float) -> float:
    """Return the value below which a share (above a half) of the distribution lies."""
    low, high = 0.0, 1.0
    while cdf(high, df) < share:
        low, high = high, high * 2
        if high > 1e9:
            return inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if cdf(middle, df) < share else (low, middle)
    return (low + high) / 2


def spread_at_most(df: int, confidence: float) -> float:
    """Return by what a standard deviation of few values is to be multiplied, to be no smaller than the true one.

    Wilson and Hilferty's form of the chi-square quantile, good to 2 % from two values on.
    """
    part = 2 / (9 * df)
    low = df * (1 - part + NormalDist().inv_cdf(1 - confidence) * sqrt(part)) ** 3
    return sqrt(df / max(low, 0.01))


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _away(1 + top * d), _away(1 + top / c)
            value *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return value


def _away(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
