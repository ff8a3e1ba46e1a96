#!/usr/bin/python3
"""Compare our linear programs with those of an independent solver.

    lp_check.py bin/batch_model_test

Runs `batch_model_test lps`, which prints programs with our objective and prices, solves
each again with SciPy's linprog, and compares the objectives; our prices must be feasible
for the dual and worth the objective.  Prints TAP.  SciPy is needed for this test alone
(python3-scipy); without it, the test says so and is skipped.
"""
import subprocess
import sys

try:
    import numpy
    from scipy.optimize import linprog
except ImportError as error:
    print("1..0 # SKIP %s (Debian's python3-scipy has it)" % error)
    sys.exit(0)

TOLERANCE = 1e-5


def programs(lines):
    """name, demand[], patterns[][], objective, prices[] of each program."""
    for line in lines:
        word = line.split()
        if not word:
            continue
        if word[0] == "lp":
            name, demand, patterns = word[1], None, []
        elif word[0] == "demand":
            demand = numpy.array([float(w) for w in word[1:]])
        elif word[0] == "pattern":
            patterns.append([float(w) for w in word[1:]])
        elif word[0] == "objective":
            objective = float(word[1])
        elif word[0] == "prices":
            yield name, demand, numpy.array(patterns), objective, \
                numpy.array([float(w) for w in word[1:]])


def main():
    output = subprocess.run([sys.argv[1], "lps"], check=True, capture_output=True, text=True)
    wrong = {}
    count = {}
    for name, demand, patterns, objective, prices in programs(output.stdout.splitlines()):
        count[name] = count.get(name, 0) + 1
        theirs = linprog(numpy.ones(len(patterns)), A_ub=-patterns.T, b_ub=-demand,
                         bounds=(0, None), method="highs")
        scale = 1 + abs(theirs.fun)
        problems = []
        if theirs.status != 0:
            problems.append("linprog failed: %s" % theirs.message)
        if abs(theirs.fun - objective) > TOLERANCE * scale:
            problems.append("objective %.9g, linprog says %.9g" % (objective, theirs.fun))
        if prices.min() < -TOLERANCE:
            problems.append("a price is %.9g" % prices.min())
        if (patterns @ prices).max() > 1 + TOLERANCE:
            problems.append("a pattern is worth %.9g" % (patterns @ prices).max())
        if abs(prices @ demand - objective) > TOLERANCE * scale:
            problems.append("prices are worth %.9g" % (prices @ demand))
        if problems:
            wrong.setdefault(name, []).append("%d: %s" % (count[name], "; ".join(problems)))
    status = 0
    for number, name in enumerate(("restricted", "full"), 1):
        bad = wrong.get(name, [])
        good = not bad and count.get(name, 0) > 0
        print("%s %d - %d %s programs, as linprog solves them" %
              ("ok" if good else "not ok", number, count.get(name, 0), name))
        for line in bad[:10]:
            print("#   %s" % line)
        if not good:
            status = 1
    print("1..2")
    return status


if __name__ == "__main__":
    sys.exit(main())
