"""cases.py: what a session is asked: a statement, alone or prepared, or a cursor's steps, or one whose effects are counted.

A case is asked of PostgreSQL's own plan and of gpuconc; differ() says what is unlike.
"""
from collections import Counter

from compare import value_of
from leaves import Leaves
from shapes import Maker

# Errors that say that a statement is none: both sessions must agree on these, too
NO_QUERY = ("42601", "42883", "42804", "42803", "42P01", "42703", "42846", "42P10", "42725", "42P18", "42P20", "42P21", "42P22",
            "42702", "42712", "0A000", "42701", "22P02 at parse")
BACKWARD = "55000"


def multiset(rows):
    return sorted(map(tuple, rows))


def show(rows, null="\x1d"):
    return ["|".join("NULL" if v == null else v[:40] for v in row) for row in rows[:3]]


def rows_unlike(expected, got, ordered=False):
    """None, or what is wrong.  Numerics that differ in zeros at their end come in any order."""
    if len(expected) != len(got):
        return "%d rows, not %d" % (len(got), len(expected))
    want, have = Counter(map(tuple, expected)), Counter(map(tuple, got))
    missing, more = list((want - have).elements()), list((have - want).elements())
    if missing:
        return "rows %s are missing, rows %s are too many" % (show(missing), show(more))
    if ordered and any(value_of(e) != value_of(g) for row, other in zip(expected, got) for e, g in zip(row, other)):
        return "another order"
    return None


def alike(error, other):
    """Equal errors; which row raises an error first is not defined, so figures in messages may differ."""
    return error[0] == other[0] and (error[1] == other[1] or error[0].startswith("22"))


class Case:
    """A statement, what is done before and after it, and how answers are compared."""

    kind = "statement"

    def __init__(self, text, tags, ordered=False):
        self.text, self.tags, self.ordered = text, tags, ordered
        self.analyzed = None      # an EXPLAIN that must raise no error but the statement's own
        self.hazards = 0          # how many parts raise an error where they are evaluated

    def with_text(self, text):
        other = self.__class__.__new__(self.__class__)
        other.__dict__.update(self.__dict__)
        other.text = text
        return other

    def before(self):
        return []

    def steps(self):
        return [self.text + ";"]

    def after(self):
        return []

    def statements(self):
        """As a query's: what is done before, the first step, what is done after."""
        return self.before(), self.steps()[0], self.after()

    def __str__(self):
        return "\n".join(self.before() + self.steps() + self.after())

    def differ(self, expected, got):
        """Each is a list of (rows, error), which an error ends."""
        for n, ((rows, error), (other, other_error)) in enumerate(zip(expected, got)):
            if error and other_error:
                return None if alike(error, other_error) else "error %s, not %s" % (other_error, error)
            if error:
                return "no error, expected %s" % (error,)
            if other_error:
                return "error %s" % (other_error,)
            wrong = self.unlike(n, rows, other)
            if wrong:
                return wrong if len(expected) == 1 else "step %d: %s" % (n + 1, wrong)
        return None

    def unlike(self, n, rows, other):
        return rows_unlike(rows, other, self.ordered)


class Prepared(Case):
    """Planned once, run more than once, perhaps after gpuconc was turned off: the node's own fallback."""

    kind = "prepared"

    def __init__(self, text, tags, params, mode, turned_off):
        Case.__init__(self, text, tags)
        self.params, self.plan_cache, self.turned_off = params, mode, turned_off

    def before(self):
        types = "(%s)" % ", ".join("int4" for _ in self.params) if self.params else ""
        return ["SET plan_cache_mode = %s;" % self.plan_cache, "PREPARE fuzz%s AS %s;" % (types, self.text)]

    def steps(self):
        values = lambda shift: "(%s)" % ", ".join(str(int(v) + shift) for v in self.params) if self.params else ""
        return ["EXECUTE fuzz%s;" % values(0), "EXECUTE fuzz%s;" % values(1)] + (
            ["SET gpuconc.enabled = off;", "EXECUTE fuzz%s;" % values(0)] if self.turned_off else [])

    def after(self):
        return ["DEALLOCATE fuzz;", "RESET plan_cache_mode;", "SET gpuconc.enabled = on;"]


class Effects(Case):
    """Counts what volatile functions did."""

    kind = "counted effects"

    def before(self):
        return ["SELECT setval('fuzz_seq', 1, false);", "BEGIN;"]

    def steps(self):
        return [self.text + ";", "SELECT count(*), array_agg(v ORDER BY v) FROM fuzz_audit;", "SELECT last_value, is_called FROM fuzz_seq;"]

    def after(self):
        return ["ROLLBACK;"]

    def differ(self, expected, got):
        """Fewer effects are no fault: whether a plan reads an input of an empty join is its own affair.  Nor are effects
        of other rows, one for each join: it may read the first row of one input, which has no order."""
        if len(expected) == 3 and len(got) == 3 and not expected[2][1] and not got[2][1]:
            (own, own_values), (count, values) = expected[1][0][0], got[1][0][0]
            others = Counter(values.strip("{}").split(",")) - Counter(own_values.strip("{}").split(","))
            if int(count) < int(own) or int(count) == int(own) and 0 < sum(others.values()) <= self.text.count(" JOIN "):
                return super().differ(expected[:1], got[:1])
        return super().differ(expected, got)


class Change(Case):
    """Changes rows, and takes it back."""

    kind = "data change"

    def before(self):
        return ["BEGIN;"]

    def after(self):
        return ["ROLLBACK;"]


class Cursor(Case):
    """The query itself, then steps of a cursor over it: each position must hold one row."""

    kind = "cursor"

    def __init__(self, text, tags, ordered, declare, moves, hold):
        Case.__init__(self, text, tags, ordered)
        self.declare, self.moves, self.hold = declare, moves, hold

    def before(self):
        return [] if self.hold else ["BEGIN;"]

    def steps(self):
        return [self.text + ";", "DECLARE fuzz_cursor %s %s;" % (self.declare, self.text)] + [
            "%s fuzz_cursor;" % m for m in self.moves]

    def after(self):
        return ["CLOSE fuzz_cursor;"] if self.hold else ["ROLLBACK;"]

    def differ(self, expected, got):
        error = expected[-1][1]
        if error and error[0] == BACKWARD and not got[len(expected) - 1:len(expected)] == expected[-1:]:
            # PostgreSQL's plan cannot go back there; one that can must give the right rows
            expected = expected[:-1]
        wrong = Case.differ(self, expected, got)
        if wrong or not expected or expected[0][1] or got[0][1]:
            return wrong
        return self.misplaced(expected[0][0], got[2:])

    def unlike(self, n, rows, other):
        if n == 0 or self.ordered:
            return rows_unlike(rows, other, self.ordered)
        return None if len(rows) == len(other) else "%d rows, not %d" % (len(other), len(rows))

    def misplaced(self, every, answers):
        """Positions as the steps imply; what stands at each."""
        at, seen = 0, {}
        for move, (rows, error) in zip(self.moves, answers):
            if error:
                return None
            places, at = positions(move, at, len(every))
            if move.startswith("MOVE"):
                continue
            if len(places) != len(rows):
                return "%s gives %d rows, not %d" % (move, len(rows), len(places))
            for place, row in zip(places, rows):
                if seen.setdefault(place, row) != row:
                    return "%s: row %d is %s, and was %s" % (move, place, show([row]), show([seen[place]]))
        left = multiset(every)
        for row in seen.values():
            if tuple(row) not in left:
                return "the cursor has the row %s, and the query has not, or not so often" % show([row])
            left.remove(tuple(row))
        return None


def positions(move, at, count):
    """(places of the rows that a FETCH or MOVE passes, where the cursor is then)"""
    word, number = (move.split()[1:-1] + [""])[:2]
    if word in ("ABSOLUTE", "RELATIVE", "FIRST", "LAST", "NEXT", "PRIOR"):
        goal = {"FIRST": 1, "LAST": count, "NEXT": at + 1, "PRIOR": at - 1}.get(word)
        if goal is None:
            n = int(number)
            goal = at + n if word == "RELATIVE" else n if n >= 0 else count + 1 + n
        goal = min(max(goal, 0), count + 1)
        return ([goal] if 1 <= goal <= count else []), goal
    size = count + 1 if number == "ALL" else int(number)
    if size == 0:
        return ([at] if 1 <= at <= count else []), at
    if word == "FORWARD":
        last = min(at + size, count + 1)
        return [p for p in range(at + 1, last + 1) if p <= count], last
    last = max(at - size, 0)
    return [p for p in range(at - 1, last - 1, -1) if p >= 1], last


class Current(Case):
    """Changes the row at which a cursor is; which row that is depends on the plan, but not that it is changed."""

    kind = "where current of"

    def __init__(self, table, condition, count, verb, tags):
        Case.__init__(self, "SELECT * FROM %s WHERE %s" % (table, condition), tags)
        self.count = count
        self.change = verb % table

    def before(self):
        return ["BEGIN;"]

    def steps(self):
        return ["DECLARE fuzz_cursor CURSOR FOR %s;" % self.text, "FETCH %d FROM fuzz_cursor;" % self.count,
                self.change + " WHERE CURRENT OF fuzz_cursor RETURNING 1;"]

    def after(self):
        return ["ROLLBACK;"]

    def unlike(self, n, rows, other):
        return None if len(rows) == len(other) else "%d rows, not %d" % (len(other), len(rows))


# ----------------------------------------------------------------------------
# Cases at random
# ----------------------------------------------------------------------------

def moves(rng, backward):
    made = []
    for _ in range(rng.randint(1, 6)):
        word = rng.choice(["FETCH", "FETCH", "FETCH", "MOVE"])
        step = "FORWARD %s" % rng.choice([1, 2, 5, 0, 50, "ALL"])
        if backward and rng.random() < 0.6:
            step = rng.choice(["BACKWARD %s" % rng.choice([1, 2, 5, "ALL"]), "ABSOLUTE %d" % rng.choice([0, 1, 3, -1, -2, 100]),
                               "RELATIVE %d" % rng.choice([-1, 0, 2, -3]), "FIRST", "LAST", "PRIOR"])
        made.append("%s %s FROM" % (word, step))
    return made + ["FETCH FORWARD ALL FROM"]


def order_by(maker, cols, depth):
    """A total order: every output is in it, perhaps behind something else."""
    rng = maker.rng
    names = [str(i + 1) for i in range(len(cols))]
    rng.shuffle(names)
    return " ORDER BY " + ", ".join(n + rng.choice(["", "", " DESC", " NULLS FIRST"]) for n in names)


def ordered_over(maker, text, cols):
    """Ordered by an expression with a sub-select, which stands in ORDER BY and not among the outputs."""
    scope = [("q.%s" % c.name, c) for c in cols]
    maker.at("order by")
    if maker.wants_hazards:
        first = maker.guarded(scope)
    elif maker.rng.random() < 0.5:
        first = maker.scalar("int", scope, 1)
    else:
        first = Leaves(maker, scope, 1).of("int", 1)
    # a whole number alone would be the number of an output
    return "SELECT * FROM (%s) AS q ORDER BY %s + 0, %s" % (text, first, ", ".join(n for n, _ in scope))


def cursor_case(rng, maker, text, cols):
    scroll = rng.choice(["SCROLL ", "NO SCROLL ", ""])
    hold = rng.random() < 0.25
    ordered = rng.random() < 0.25 and "constant in grouping sets" not in maker.tags
    if ordered:
        text += order_by(maker, cols, 0)
    if hold:
        maker.tags.add("cursor with hold")
    maker.tags.add("cursor, " + (scroll.strip().lower() or "neither scroll nor not"))
    declare = "%sCURSOR %sFOR" % (scroll, "WITH HOLD " if hold else "")
    return Cursor(text, maker.tags, ordered, declare, moves(rng, scroll != "NO SCROLL " or rng.random() < 0.2), hold)


def change_case(rng, maker):
    maker.at("where")
    rel = maker.small_table(keyed=True)
    scope = [("x.%s" % c.name, c) for c in rel.cols]
    condition = maker.predicate(scope, 2)
    form = rng.randint(0, 3)
    if form == 0:
        text, _ = maker.select(2, kinds=["int"])
        text = "INSERT INTO fuzz_audit (v) %s RETURNING v" % text
    elif form == 1:
        text = "DELETE FROM %s AS x WHERE %s RETURNING *" % (rel.name, condition)
    elif form == 2:
        text = "UPDATE %s AS x SET g = x.g WHERE %s RETURNING *" % (rel.name, condition)
    else:
        text = "UPDATE %s AS x SET g = coalesce(%s, 0) %% 100 RETURNING x.*" % (rel.name, maker.scalar("int", scope, 1))
    return Change(text, maker.tags)


def current_case(rng, maker):
    rel = maker.small_table(keyed=True)
    condition = Leaves(maker, [(c.name, c) for c in rel.cols]).condition(0)
    verb = rng.choice(["UPDATE %s SET g = g", "DELETE FROM %s"])
    return Current(rel.name, condition, rng.choice([1, 2, 5]), verb, maker.tags)


def statement_case(rng, maker, text, cols):
    # PostgreSQL does not sort by a constant, which grouping sets make NULL
    ordered = "constant in grouping sets" not in maker.tags
    if rng.random() < 0.12:
        return Case(ordered_over(maker, text, cols), maker.tags, ordered)
    if rng.random() < 0.15:
        return Case(text + order_by(maker, cols, 0), maker.tags, ordered)
    if rng.random() < 0.1:
        # whatever the query gives, some value of each of its columns is asked for
        maker.tags.add("aggregates over all")
        return Case("SELECT count(*), %s FROM (%s) AS q" % (", ".join("min(q.%s::text)" % c.name for c in cols), text), maker.tags)
    return Case(text, maker.tags)


def make_case(rng, rels):
    maker = Maker(rng, rels)
    roll = rng.random()
    maker.hazardous = rng.random() < 0.22
    maker.lean = rng.random() < 0.4
    if roll < 0.04:
        case = change_case(rng, maker)
    elif roll < 0.06:
        case = current_case(rng, maker)
    else:
        maker.volatile = roll < 0.16
        if roll > 0.92:
            maker.params = []
        simple = 0.16 <= roll < 0.26 and rng.random() < 0.4
        text, cols = maker.one_table() if simple else maker.select(rng.choice([0, 0, 1, 1] if maker.lean else [0, 1, 1, 2, 2, 3]), top=True)
        if maker.volatile:
            case = Effects(text, maker.tags)
        elif maker.params is not None:
            case = Prepared(text, maker.tags, maker.params, rng.choice(["auto", "force_generic_plan", "force_custom_plan"]), rng.random() < 0.3)
        elif roll < 0.26:
            case = cursor_case(rng, maker, text, cols)
        else:
            case = statement_case(rng, maker, text, cols)
    if rng.random() < 0.08 and "fuzz_" not in case.text and not maker.params:
        maker.tags.add("explained")
        case.analyzed = rng.choice(["EXPLAIN (VERBOSE) ", "EXPLAIN (ANALYZE, VERBOSE) ", "EXPLAIN (FORMAT JSON, VERBOSE) "])
    case.tags.add("kind: " + case.kind)
    case.hazards = maker.hazards
    return case
