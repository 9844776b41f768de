"""Rigorous enclosures of erfc(√q) and exp(-r) for rational q and r, by integer arithmetic alone.

A fixed-point number of ``precision`` bits is the integer ``value·2^precision``. Each function returns integers
``(low, high)`` with ``low ≤ value·2^precision ≤ high``. That holds by the error bounds proven beside the code, whatever
the guard bits; the guard bits only make the enclosure narrow: ``high - low ≤ 3``.
"""

import math
from fractions import Fraction
from functools import lru_cache

_GUARD = 40


def erfc_bounds(square: Fraction, precision: int) -> tuple[int, int]:
    """Enclose erfc(√square), the probability that a standard normal is beyond √(2·square) on either side.

    Proof. erf(√q) = A·S with A = √(4q/π) and S = Σ (-1)^n a_n/(2n+1), a_n = q^n/n!. In units of 2^-w, each computed
    term falls short of a_n by e_n ≥ 0 with e_0 = 0 and e_n ≤ (q·e_{n-1} + a_{n-1})/n + 1, where a_{n-1} stems from
    cutting q to w bits and 1 from cutting the quotient; hence e_n ≤ Σ_{k<n} q^k/k! + q^{n-1}/(n-1)! ≤ 2·e^q. While
    n ≤ q the a_n do not fall, so the computed terms vanish first at some n = M > q; beyond it the terms alternate and
    fall, and the rest is below e_M ≤ 2·e^q. With one unit for each cut quotient a_n/(2n+1), S is off by at most
    2M·e^q + M + 2·e^q ≤ (3M + 2)·e^q. A is off by at most 2 + A: 1 from the square root, less than 1 from the cut
    quotient under it, and less than A from π, which is off by less than 2 units. As S ≤ 1 and A ≤ 1.13·√q, the product
    is off by at most (2√q + 1)·(3M + 2)·e^q + 3, and e^q ≤ 2^(3q/2).

    Args:
        square: q > 0.
        precision: bits after the point, at least 1.
    """
    if 36 * square >= 25 * precision:
        return 0, 1  # erfc(√q) ≤ e^-q ≤ 2^(-1.44·q)
    growth = math.ceil(3 * square / 2)
    width = -(-(precision + growth + _GUARD) // 64) * 64
    fixed = (square.numerator << width) // square.denominator
    term = 1 << width
    total = 0
    count = 0
    while term:
        total += -(term // (2 * count + 1)) if count % 2 else term // (2 * count + 1)
        count += 1
        term = (term * fixed >> width) // count
    factor = math.isqrt((square.numerator << (3 * width + 2)) // (square.denominator * _pi(width)))
    error_function = factor * total >> width
    error = ((2 * math.isqrt(math.ceil(square)) + 3) * (3 * count + 2) << growth) + 4
    return _cut(((1 << width) - error_function - error, (1 << width) - error_function + error), width - precision)


def exp_minus_bounds(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Enclose exp(-exponent).

    Proof. With y = exponent/2^h < 1 the terms y^n/n! are computed in units of 2^-w, each short by some e_n ≥ 0 with
    e_0 = 0, e_1 ≤ 2 and e_n ≤ (e_{n-1} + 1)/n + 1 (the term before, the cut y, the cut quotient), hence e_n < 3. The
    sum of M terms is off by at most 3M and the alternating rest is at most its first term, which is below 3 when its
    computed value is 0. Squaring h times keeps an enclosure when the lower end is cut down and the upper end cut up.

    Args:
        exponent: r ≥ 0; r = 0 gives the exact 1.
        precision: bits after the point, at least 1.
    """
    if exponent == 0:
        return 1 << precision, 1 << precision
    if 36 * exponent >= 25 * precision:
        return 0, 1
    halvings = math.ceil(exponent).bit_length()
    width = precision + 2 * halvings + _GUARD
    fixed = (exponent.numerator << width) // (exponent.denominator << halvings)
    term = 1 << width
    total = 0
    count = 0
    while term:
        total += -term if count % 2 else term
        count += 1
        term = (term * fixed >> width) // count
    low, high = total - 3 * count - 3, total + 3 * count + 3
    for _ in range(halvings):
        low, high = low * low >> width, (high * high >> width) + 1
    return _cut((low, high), width - precision)


def _cut(bounds: tuple[int, int], bits: int) -> tuple[int, int]:
    """Drop low bits outwards, keeping a probability inside [0, ∞)."""
    low, high = bounds
    return max(low >> bits, 0), (high >> bits) + 1


@lru_cache(maxsize=64)
def _pi(precision: int) -> int:
    """Return π·2^precision, off by less than 2, for precision below 2^20.

    Machin: π = 16·arctan(1/5) - 4·arctan(1/239). Each term of either series is off by less than 3 units of the
    working precision and there are fewer terms than working bits, so that the sum is off by less than 60·2^21 of these
    units, far less than one unit of the result; the final cut costs less than another.
    """
    guard = 64
    one = 1 << (precision + guard)
    return (16 * _arctan_inverse(5, one) - 4 * _arctan_inverse(239, one)) >> guard


def _arctan_inverse(inverse: int, one: int) -> int:
    power = one // inverse
    total = 0
    divisor = 1
    while power:
        total += power // divisor if divisor % 4 == 1 else -(power // divisor)
        power //= inverse * inverse
        divisor += 2
    return total
