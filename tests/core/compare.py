"""Sorts what differs between an expected and an actual output, statement by statement."""

import difflib
import re
from dataclasses import dataclass

from statements import Script, isolation_parts

PLAN, ORDER, OTHER = 'plan text', 'row order', 'other'


@dataclass
class Difference:
    kind: str
    statement: str
    expected: list
    actual: list
    context: str = ''       # of an isolation test: its permutation
    reason: str = ''        # why it is right, for OTHER
    followed: int = 0       # so many statements more, that failed as this one had

    def lines(self):
        """The differing lines, as diff shows them without context."""
        if self.actual is None:
            return ['-' + line for line in self.expected] + ['+(not reached)']
        return [line for line in difflib.unified_diff(self.expected, self.actual, n=0, lineterm='')
                if not line.startswith(('---', '+++', '@@'))]


def outside(text):
    """The text at its top level: without what is quoted or in parentheses."""
    text = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|\$(\w*)\$.*?\$\1\$", "''", text, flags=re.S)
    while True:
        shorter = re.sub(r'\([^()]*\)', ' ', text)
        if shorter == text:
            return text
        text = shorter


def ordered(statement):
    return re.search(r'\border\s+by\b', outside(statement.text + ' ; ' + statement.order), re.I)


def messages(lines):
    return sorted(line for line in lines if re.match(r'(?:psql:.*)?(?:ERROR|FATAL|PANIC|WARNING|NOTICE|DETAIL|HINT)', line))


def sort_difference(statement, expected, actual):
    """The kind of one difference.  What PostgreSQL says beside the rows must always be the same."""
    if messages(expected) != messages(actual):
        return OTHER
    if re.search(r'\bexplain', statement.text, re.I) or any('QUERY PLAN' in line for line in expected):
        return PLAN
    if sorted(expected) == sorted(actual) and not ordered(statement):
        return ORDER
    return OTHER


def one_line(text):
    return re.sub(r'\s+', ' ', text).strip()


def difference(statement, expected, actual, context=''):
    return Difference(sort_difference(statement, expected, actual), one_line(statement.text),
                      expected, actual, context)


def compare_scripts(script, expected, actual):
    """Differences of a test of psql."""
    actual_results = {id(part.statement): part.result for part in script.parts(actual)
                      if part.statement.lines}
    before = [part for part in script.parts(actual) if not part.statement.lines]
    differences = []
    for part in before:
        differences.append(Difference(OTHER, part.statement.text, [], part.result))
    missing = []
    for part in script.parts(expected):
        if id(part.statement) not in actual_results:
            missing.append(part)
        elif part.result != actual_results[id(part.statement)]:
            differences.append(difference(part.statement, part.result, actual_results[id(part.statement)]))
    if missing:
        differences.append(Difference(OTHER, f'{len(missing)} statements were not reached, the first: '
                                      + one_line(missing[0].statement.text), missing[0].result, None))
    return differences


def compare_isolation(expected, actual):
    """Differences of a test of isolationtester: steps may also come at other times."""
    old, new = isolation_parts(expected), isolation_parts(actual)
    matcher = difflib.SequenceMatcher(None, [part.statement.text for part in old],
                                      [part.statement.text for part in new], autojunk=False)
    differences = []
    for what, from_old, to_old, from_new, to_new in matcher.get_opcodes():
        if what == 'equal':
            for old_part, new_part in zip(old[from_old:to_old], new[from_new:to_new]):
                if old_part.result == new_part.result:
                    continue
                text = '\n'.join([old_part.statement.text] + old_part.result)
                sql = type(old_part.statement)(old_part.statement.lines, text)
                found = difference(sql, old_part.result, new_part.result,
                                   getattr(old_part, 'permutation', ''))
                found.statement = one_line(old_part.statement.text)
                differences.append(found)
        else:
            first = (old[from_old:to_old] or new[from_new:to_new])[0]
            differences.append(Difference(
                OTHER, one_line(first.statement.text),
                [line for part in old[from_old:to_old] for line in part.statement.lines + part.result],
                [line for part in new[from_new:to_new] for line in part.statement.lines + part.result],
                getattr(first, 'permutation', '')))
    return differences


ABORTED = 'ERROR:  current transaction is aborted, commands ignored until end of transaction block'


def fold(differences):
    """An error makes all that is left of its transaction differ, which is said once."""
    folded = []
    for one in differences:
        if folded and one.kind == OTHER and one.actual is not None and ABORTED in one.actual \
                and folded[-1].kind == OTHER:
            folded[-1].followed += 1
        else:
            folded.append(one)
    return folded


def subtract(differences, known):
    """Differences that the set-up alone has, too: the same statement with the same result."""
    def key(one):
        return one.statement, one.context, tuple(one.actual) if one.actual is not None else None
    seen = {key(one) for one in known}
    return [one for one in differences if key(one) not in seen]


def badness(differences):
    return sum(1 for one in differences if one.kind == OTHER), len(differences)


def compare(part, script, expectations, actual):
    """Differences to the alternative of the expected output that is nearest."""
    best = None
    for expected in expectations:
        if expected == actual:
            return []
        found = fold(compare_isolation(expected, actual)) if part == 'isolation' else \
            fold(compare_scripts(Script(script, expected), expected, actual))
        # Equal lines can be cut at a different place only where the cutting failed.
        if not found:
            found = [Difference(OTHER, 'what is not part of any statement', expected.split('\n'),
                                actual.split('\n'))]
        if best is None or badness(found) < badness(best):
            best = found
    return best
