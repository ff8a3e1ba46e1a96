"""Cuts the output of a test into statements, each with what it printed.

psql -a echoes the lines it reads, and prints a statement's result after the line that
ends it.  So a statement is found by its own lines, one after the other."""

import re
from dataclasses import dataclass, field


@dataclass
class Statement:
    """Lines up to one that ends a statement, with the comments before them."""
    lines: list
    text: str
    data: bool = False      # COPY FROM STDIN: lines of data may follow, which psql never echoes
    order: str = ''         # what decides the order of its rows, where that is said elsewhere


@dataclass
class Part:
    """A statement, and what it printed."""
    statement: Statement
    result: list = field(default_factory=list)


class Lexer:
    """As much of psql's lexer as tells where a statement ends."""

    TOKEN = re.compile(r"""
        (?P<comment>--.*) | (?P<block>/\*) | (?P<string>(?:[eE]|[uU]&)?') | (?P<name>") |
        (?P<dollar>\$(?:[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?\$) | (?P<word>[A-Za-z_\x80-\uffff][\w$\x80-\uffff]*) |
        (?P<number>\d\w*) | (?P<open>[(]) | (?P<close>[)]) | (?P<end>;) | (?P<command>\\.*)""", re.X)
    SENDS = re.compile(r'\\(g|gx|gset|gexec|gdesc|crosstabview|bind|watch|r|reset)\b')

    def __init__(self):
        self.standard_strings = True
        self.clear()

    def clear(self):
        self.closing = None     # the regular expression that ends what is quoted
        self.comments = 0
        self.parens = 0
        self.words = []
        self.begins = 0

    def skip_quoted(self, line, at):
        """Position after what is quoted, or None if it goes on."""
        if self.comments:
            for found in re.finditer(r'/\*|\*/', line[at:]):
                self.comments += 1 if found[0] == '/*' else -1
                if self.comments == 0:
                    return at + found.end()
            return None
        found = self.closing.match(line, at)
        if not found:
            return None
        self.closing = None
        return found.end()

    def word(self, word):
        """Bodies in SQL's own style have semicolons of their own."""
        word = word.lower()
        if len(self.words) < 4:
            self.words.append(word)
        routine = self.words[:2] in (['create', 'function'], ['create', 'procedure']) or \
            self.words[:3] == ['create', 'or', 'replace']
        if routine and not self.parens:
            if word == 'begin' or (word == 'case' and self.begins):
                self.begins += 1
            elif word == 'end' and self.begins:
                self.begins -= 1

    def string(self, opening):
        escapes = opening[0] in 'eE' or (opening == "'" and not self.standard_strings)
        self.closing = re.compile(r"(?:[^'\\]|\\.|\\$)*'" if escapes else r"[^']*'", re.S)

    def skips(self, line):
        """psql does not echo an empty line outside quotes."""
        return line == '' and not self.closing and not self.comments

    def line(self, line):
        """Whether the line ends a statement, or has a command of psql."""
        ended = False
        at = 0
        if line.lstrip().startswith('\\') and not self.closing and not self.comments:
            if not line.lstrip().startswith('\\;'):
                if self.SENDS.match(line.lstrip()):
                    self.clear()
                return True
        while at < len(line):
            if self.closing or self.comments:
                at = self.skip_quoted(line, at)
                if at is None:
                    break
                continue
            found = self.TOKEN.search(line, at)
            if not found:
                break
            at = found.end()
            kind, token = found.lastgroup, found[0]
            if kind == 'block':
                self.comments = 1
            elif kind == 'string':
                self.string(token)
            elif kind == 'name':
                self.closing = re.compile(r'[^"]*"')
            elif kind == 'dollar':
                self.closing = re.compile(r'.*?' + re.escape(token))
            elif kind == 'word':
                self.word(token)
            elif kind == 'open':
                self.parens += 1
            elif kind == 'close':
                self.parens = max(0, self.parens - 1)
            elif kind == 'end' and not self.parens and not self.begins:
                self.clear()
                ended = True
            elif kind == 'command':
                if token.startswith('\\;'):
                    at = found.start() + 2
                elif self.SENDS.match(token):
                    self.clear()
                    ended = True
        return ended


COPY = re.compile(r'\bcopy\b[^;]*\bfrom\s+(?:p?stdin)\b', re.I)
STRINGS = re.compile(r'set\s+standard_conforming_strings\s*(?:to|=)\s*(\w+)', re.I)
PREPARED = re.compile(r'^\s*prepare\s+("[^"]+"|\w+)\b(.*)', re.I | re.S)
CURSOR = re.compile(r'\bdeclare\s+("[^"]+"|\w+)\b(.*)', re.I | re.S)
USED = re.compile(r'^\s*(?:execute|fetch|move)\b(.*)', re.I | re.S)


def without_comments(text):
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    return re.sub(r'(^|\s)--[^\n]*', r'\1', text).strip()


def split_script(text):
    """The statements of a script.  Lines of data stay in, as the first lines of the next one:
    only the output says whether psql read them as data."""
    lexer = Lexer()
    statements, lines = [], []
    named = {}
    for line in text.split('\n'):
        if lexer.skips(line):
            continue
        lines.append(line)
        if not lexer.line(line):
            continue
        statement = Statement(lines, without_comments('\n'.join(lines)))
        statement.data = bool(COPY.search(statement.text))
        strings = STRINGS.search(statement.text)
        if strings:
            lexer.standard_strings = strings[1].lower() in ('on', 'true')
        for defined in PREPARED.search(statement.text), CURSOR.search(statement.text):
            if defined:
                named[defined[1].lower()] = defined[2]
        used = USED.search(statement.text)
        if used:
            statement.order = ' '.join(named.get(w, '') for w in re.findall(r'"[^"]+"|\w+', used[1].lower()))
        statements.append(statement)
        lines = []
        if statement.data:
            lexer.clear()
    if lines and lines != ['']:
        statements.append(Statement(lines, without_comments('\n'.join(lines))))
    return statements


def find_lines(wanted, output, at):
    first = wanted[0]
    size = len(wanted)
    while True:
        try:
            at = output.index(first, at)
        except ValueError:
            return None
        if output[at:at + size] == wanted:
            return at
        at += 1


def drop_data(script, at):
    """The script without the data that the line before AT announces, if data is there."""
    for end in range(at, len(script)):
        if script[end] == '\\.':
            return end + 1
    return at


class Script:
    """A test's script, cut into statements by the help of its expected output."""

    def __init__(self, text, expected):
        self.statements = []
        lines = text.split('\n')
        # Data is no SQL, so it goes before anything else is read.
        kept, at = [], 0
        output = expected.split('\n')
        place = 0
        lexer = Lexer()
        while at < len(lines):
            line = lines[at]
            at += 1
            if lexer.skips(line):
                continue
            kept.append(line)
            try:
                place = output.index(line, place) + 1
            except ValueError:
                pass
            if COPY.search(line) and lexer.line(line) and at < len(lines):
                if lines[at] not in output[place:place + 12] or lines[at] == '\\.':
                    at = drop_data(lines, at)
            elif not COPY.search(line):
                lexer.line(line)
        self.statements = split_script('\n'.join(kept))

    def parts(self, output):
        """The output of each statement.  A statement that is not found printed nothing: the rest
        of an output whose connection was lost, for one."""
        lines = output.split('\n')
        parts = []
        at = 0
        for statement in self.statements:
            found = find_lines(statement.lines, lines, at)
            if found is None:
                continue
            if parts:
                parts[-1].result = lines[at:found]
            elif found > at:
                parts.append(Part(Statement([], 'before the first statement'), lines[at:found]))
            at = found + len(statement.lines)
            parts.append(Part(statement))
        if parts:
            parts[-1].result = lines[at:]
        else:
            parts.append(Part(Statement([], 'before the first statement'), lines))
        return parts


STEP = re.compile(r'^(?:step |starting permutation: |Parsed test spec|teardown |setup )')


def isolation_parts(output):
    """The output of each statement of isolationtester, whose steps say their statements."""
    parts = [Part(Statement([], 'before the first step'))]
    permutation = ''
    for line in output.split('\n'):
        if not STEP.match(line):
            parts[-1].result.append(line)
            continue
        if line.startswith('starting permutation: '):
            permutation = line[len('starting permutation: '):]
        parts.append(Part(Statement([line], line)))
        parts[-1].permutation = permutation
    return parts
