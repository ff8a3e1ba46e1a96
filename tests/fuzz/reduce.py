"""reduce.py: makes a statement smaller while something stays wrong with it.

Works on the text alone: takes away runs of tokens with balanced parentheses, and lifts
what is in parentheses out of them.  What is then no statement any more is not wrong.
"""
import re
import time

TOKEN = re.compile(r"'(?:[^']|'')*'(?:::\w+(?:\(\d+\))?)?|[A-Za-z_][\w.]*(?:::\w+)?|\d[\d.]*|::\w+|<>|<=|>=|\|\||\S")


def tokens(text):
    return TOKEN.findall(text)


def joined(parts):
    return " ".join(parts)


def balanced(parts):
    depth = 0
    for part in parts:
        depth += (part == "(") - (part == ")")
        if depth < 0:
            return False
    return depth == 0


def orders(parts):
    """Parts whose loss makes an answer depend on the plan: the orders below LIMIT."""
    text = joined(parts)
    return text.count("LIMIT") + text.count("DISTINCT ON") - text.count("ORDER BY")


def smaller(parts):
    """Candidates, the smallest first."""
    count = len(parts)
    closing, stack = {}, []
    for i, part in enumerate(parts):
        if part == "(":
            stack.append(i)
        elif part == ")" and stack:
            closing[stack.pop()] = i
    # what is in parentheses instead of all that is around it
    for start, end in sorted(closing.items(), key=lambda span: span[1] - span[0]):
        if parts[start + 1] in ("SELECT", "WITH"):
            yield parts[start + 1:end]
    size = count // 2
    while size >= 1:
        step = max(1, size // 3)
        for start in range(0, count - size + 1, step):
            gone = parts[start:start + size]
            if balanced(gone):
                yield parts[:start] + parts[start + size:]
        size = size * 2 // 3
    for start, end in closing.items():
        if end - start > 2:
            yield parts[:start] + ["1"] + parts[end + 1:]
            yield parts[:start] + ["(", "1", ")"] + parts[end + 1:]


def reduce(case, still_wrong, seconds):
    """The smallest case found in this time for which still_wrong(case) holds."""
    deadline = time.monotonic() + seconds
    parts = tokens(case.text)
    first = orders(parts)
    if not still_wrong(case.with_text(joined(parts))):
        return case
    progress = True
    while progress:
        progress = False
        for candidate in smaller(parts):
            if time.monotonic() > deadline:
                return case.with_text(joined(parts))
            if orders(candidate) > max(first, 0) or not candidate:
                continue
            if still_wrong(case.with_text(joined(candidate))):
                parts, progress = candidate, True
                break
    return case.with_text(joined(parts))
