"""compare.py: are two answers the same, as far as SQL defines them?"""
import math
import re

from queries import EXACT, TOLERANT, VALUE
from tables import NULL


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def digits(text):
    return len("".join(c for c in text.split("e")[0] if c.isdigit()).strip("0"))


def near(a, b):
    if a == b:
        return True
    x, y = number(a), number(b)
    if x is None or y is None:
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    # PostgreSQL rounds a sum of reals, which is written with up to 9 digits, at every step
    tolerance = 1e-4 if digits(a) <= 9 and digits(b) <= 9 else 1e-6
    return abs(x - y) <= tolerance * max(abs(x), abs(y)) + 1e-6


def value_of(text):
    """A number without the zeros at its end."""
    return re.sub(r"^(-?\d+)\.(\d*?)0*$", lambda m: m[1] + "." + m[2] if m[2] else m[1], text)


def loose_key(value):
    """Sorts values that may differ a little; what is no number sorts as its text."""
    n = number(value)
    return (-math.inf, value) if n is None or math.isnan(n) else (n, "")


def rows_differ(expected, got, how):
    """None, or what is wrong."""
    if len(expected) != len(got):
        return "%d rows, not %d" % (len(got), len(expected))
    if sorted(expected) == sorted(got):
        return None
    if VALUE in how:
        expected, got = [[[value_of(v) if h is VALUE else v for v, h in zip(row, how)] for row in rows] for rows in (expected, got)]
    exact = [i for i, h in enumerate(how) if h in (EXACT, VALUE)]
    loose = [i for i, h in enumerate(how) if h not in (EXACT, VALUE)]

    def key(row):
        return [row[i] for i in exact], [loose_key(row[i]) for i in loose]
    expected, got = sorted(expected, key=key), sorted(got, key=key)
    for e, g in zip(expected, got):
        if len(e) != len(g):
            return "different columns"
        if any(e[i] != g[i] for i in exact) or any(
                not (near(e[i], g[i]) if how[i] is TOLERANT else
                     e[i] == g[i] or {e[i], g[i]} == {"0", "-0"}) for i in loose):
            show = lambda row: "|".join("NULL" if v == NULL else v[:60] for v in row)
            return "expected %s\n            got %s" % (show(e), show(g))
    return None
