"""diagnosis.py: what a wrong answer is printed with, so that its cause is told though it may never be seen again.

Steps that change nothing come first: which rows, what the views say, how the statement runs now.  Then it is asked
again in ways that leave out one thing that lasts each: edges, what the session has learned, what is cached.
"""
import collections

from cases import Case, rows_unlike
from compare import rows_differ
from queries import EXACT
from session import Lost, Session

MOST_ROWS = 5
SETTINGS = ("debug_offload", "offload_cost", "debug_tuple_cost", "debug_build_cost", "debug_pipeline_edge", "debug_edge_step")
# Partitions and children of a table have its name and more.
STATE = """SELECT 'cache: ' || jsonb_strip_nulls(to_jsonb(c))::text FROM gpuconc_cache AS c WHERE relation::text ~ '^(%(names)s)'
UNION ALL SELECT 'stat: ' || jsonb_strip_nulls(to_jsonb(s) || to_jsonb(m) || to_jsonb(h))::text
    FROM gpuconc_stat AS s, gpuconc_stat_memory AS m, gpuconc_stat_sharing AS h
UNION ALL SELECT 'device: ' || jsonb_strip_nulls(to_jsonb(d))::text FROM gpuconc_devices AS d
UNION ALL SELECT 'relation: ' || relname || ', ' || relpages || ' pages, ' || relallvisible || ' all-visible, ' || reltuples || ' rows'
FROM pg_class WHERE relname ~ '^(%(names)s)' AND relkind = 'r';"""
EVICT = "SELECT gpuconc_evict(relid::regclass) FROM (SELECT DISTINCT relid FROM gpuconc_cache WHERE datname = current_database()) AS c;"


def surplus(rows, others):
    """Rows that others have not, or not so often."""
    left = collections.Counter(map(tuple, rows)) - collections.Counter(map(tuple, others))
    return ["|".join(v[:60] for v in row) for row in sorted(left.elements())[:MOST_ROWS]]


def unlike(query, expected, got):
    return rows_unlike(expected, got, query.ordered) if isinstance(query, Case) else rows_differ(expected, got, query.compare())


class Diagnosis:
    """Mixed into the fuzzer, which has the sessions and ask()."""

    def diagnose(self, session, query, names, got=None):
        """
        Prints all that of a query, or a case of one statement, and of the tables that it reads.  session gave the
        answer `got`, if that is known.  At the end nothing is cached.
        """
        try:
            expected, error = self.ask(self.off, query)
            if not error and got is not None:
                self.say("rows missing: %s; too many: %s" % (surplus(expected, got), surplus(got, expected)))
            self.say_all(self.off, STATE % {"names": "|".join(names) or "-"})
            before, text, after = query.statements()
            settings = ["SET gpuconc.%s = %s;" % (name, session.must("SHOW gpuconc.%s;" % name)[0][0]) for name in SETTINGS]
            self.say(" ".join(settings))
            for statement in before:
                session.run(statement)
            self.say_all(session, "EXPLAIN (ANALYZE, VERBOSE) " + text)
            for statement in after:
                session.run(statement)
            self.again("in the same session", session, query, expected)
            session.run("SET gpuconc.debug_pipeline_edge = fuse;")
            self.again("with fused steps", session, query, expected)
            session.run(" ".join(settings))
            other = Session(session.settings + settings)
            self.again("in a new session", other, query, expected)
            other.close()
            for name in names:
                self.compare_contents(session, name)
            self.off.run(EVICT)
            self.again("with nothing cached", session, query, expected)
        except Lost as lost:
            self.say("lost while the answer was looked into: %s" % lost)
            raise

    def say(self, text):
        print("  # " + text.replace("\n", "\n  #   "), flush=True)

    def say_all(self, session, statement):
        rows, error = session.run(statement)
        for line in [error[1]] if error else ["|".join(row) for row in rows]:
            self.say(line)

    def again(self, how, session, query, expected):
        rows, error = self.ask(session, query)
        wrong = "error %s" % (error,) if error else unlike(query, expected or [], rows)
        self.say("again, %s: %s" % (how, wrong or "right"))

    def compare_contents(self, session, name):
        """Has gpuconc the table's rows?  If so, the table is not at fault."""
        statement = "SELECT * FROM %s;" % name
        (expected, _), (got, error) = self.off.run(statement), session.run(statement)
        if error or not expected:
            self.say("rows of %s: %s" % (name, error or "none"))
            return
        wrong = rows_differ(expected, got, [EXACT] * len(expected[0]))
        self.say("rows of %s: %s" % (name, wrong or "right, %d" % len(got)))
