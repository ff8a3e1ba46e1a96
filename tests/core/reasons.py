"""The file of reasons: differences of kind "other" that are right, and why."""

import re
from dataclasses import dataclass


@dataclass
class Reason:
    test: str
    statement: str
    reason: str
    difference: str = ''
    modes: tuple = ()
    line: int = 0
    used: int = 0

    def matches(self, test, mode, difference):
        return (re.fullmatch(self.test, test) and (not self.modes or mode in self.modes)
                and re.search(self.statement, difference.statement, re.I)
                and re.search(self.difference, '\n'.join(difference.lines()), re.M))


def read_reasons(path):
    """Entries are separated by empty lines.  A line is "name: value"; one that begins with a space
    goes on with the value above."""
    reasons, entry = [], {}
    with open(path, encoding='utf8') as file:
        for number, line in enumerate(list(file) + ['\n'], 1):
            line = line.rstrip('\n')
            if line.startswith('#'):
                continue
            if line.startswith(' ') and line.strip() and entry:
                entry[name] += ' ' + line.strip()
            elif line.strip():
                name, _, value = line.partition(':')
                if name not in ('test', 'statement', 'difference', 'modes', 'reason'):
                    raise ValueError(f'{path}:{number}: no field "{name}"')
                entry[name] = value.strip()
                entry.setdefault('line', number)
            elif entry:
                if not all(entry.get(field) for field in ('test', 'statement', 'reason')):
                    raise ValueError(f'{path}:{number}: an entry without test, statement or reason')
                entry['modes'] = tuple(re.split(r'[ ,]+', entry['modes'])) if 'modes' in entry else ()
                reasons.append(Reason(**entry))
                entry = {}
    return reasons


def explain(reasons, test, mode, differences):
    """Give each difference of kind "other" its reason, if there is one."""
    for difference in differences:
        if difference.kind != 'other':
            continue
        for reason in reasons:
            if reason.matches(test, mode, difference):
                reason.used += 1
                difference.reason = reason.reason
                break
