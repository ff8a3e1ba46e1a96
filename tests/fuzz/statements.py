"""statements.py: asks the cases of cases.py of PostgreSQL's own plan and of gpuconc.

What differs is asked of PostgreSQL once more, with other plans (ALTERNATIVES).  If one of
them answers as gpuconc did, the answer, the error or the number of effects depends on the
plan, and nothing is wrong.  Internal errors, messages that name gpuconc and lost
connections are always wrong.
"""
import collections
import json
import re

from cases import BACKWARD, NO_QUERY
from reduce import reduce
from session import FIELD, Lost

MAX_ROWS, MAX_COST = 20000, 60000
OWN_TIMEOUT, TIMEOUT = "4s", "30s"
HAZARDS = ("21000", "22012", "22P02")     # what parts that were made to raise errors raise
# Other plans of PostgreSQL's: methods that are off, and joins in the order in which they are written.
METHODS = [("hashjoin",), ("nestloop",), ("mergejoin",), ("hashjoin", "mergejoin"), ("nestloop", "mergejoin"), ("hashagg",),
           ("hashagg", "hashjoin"), ("material", "memoize"), ("seqscan",), ("indexscan", "bitmapscan"),
           ("hashjoin", "nestloop", "indexscan", "bitmapscan"), ("sort",)]
AS_WRITTEN = ["join_collapse_limit", "from_collapse_limit"]
ALTERNATIVES = [(["enable_" + m for m in methods], []) for methods in METHODS] + \
    [(["enable_" + m for m in methods], AS_WRITTEN) for methods in [()] + METHODS[:5]]
MODES = {
    "prefer": "SET gpuconc.debug_offload = prefer; SET gpuconc.debug_rewrite = always; SET gpuconc.offload_cost = 50; RESET gpuconc.debug_tuple_cost; RESET gpuconc.debug_build_cost;",
    "allow": "SET gpuconc.debug_offload = allow; RESET gpuconc.debug_rewrite; SET gpuconc.offload_cost = 0; SET gpuconc.debug_tuple_cost = 0; SET gpuconc.debug_build_cost = 0;",
    "reset": "RESET gpuconc.debug_rewrite; RESET gpuconc.offload_cost; RESET gpuconc.debug_tuple_cost; RESET gpuconc.debug_build_cost; SET statement_timeout = '1h';",
    "reset_timeout": "SET statement_timeout = '50s';",
}


def internal(error):
    """Errors that no statement may see."""
    return error is not None and (error[0] in ("XX000", "XX001", "XX002") or "gpuconc" in error[1])


def signature(wrong):
    """(kind of fault, SQLSTATE): what must stay while a statement is made smaller"""
    state = wrong.split("('")[1][:5] if "('" in wrong else ""
    for kind in ("lost", "internal error", "error", "no error"):
        if wrong.startswith(kind):
            return kind, state
    return ("explain", state) if wrong.startswith("EXPLAIN") else ("rows", state)


class Statements:
    """Mixed into the fuzzer, which has the sessions and the counts."""

    def start_statements(self):
        self.tagged = collections.defaultdict(collections.Counter)
        self.errors = collections.Counter()
        self.faults = collections.Counter()

    def ask_case(self, session, case):
        """A list of (rows, error), which an error ends."""
        answers = []
        for statement in case.before():
            _, error = session.run(statement)
            if error:
                answers = [(None, error)]
                break
        if not answers:
            for statement in case.steps():
                answers.append(session.run(statement))
                if answers[-1][1]:
                    break
        for statement in case.after():
            session.run(statement)
        return answers

    def ask_mode(self, case):
        self.on.run(MODES[case.mode] + " SET statement_timeout = '%s';" % TIMEOUT)
        return self.ask_case(self.on, case)

    def case_too_large(self, case):
        """Would it cost or return more than is worth waiting for?"""
        text = case.text
        for n in range(9, 0, -1):
            text = text.replace("$%d" % n, "1")
        rows, error = self.off.run("EXPLAIN (FORMAT JSON) %s;" % text)
        if error or not rows:
            return False
        plan = json.loads("\n".join(FIELD.join(r) for r in rows))[0]["Plan"]
        return plan["Plan Rows"] > MAX_ROWS or plan["Total Cost"] > MAX_COST

    def explains(self, case):
        """None, or what is wrong with EXPLAIN."""
        if not case.analyzed:
            return None
        _, error = self.on.run(case.analyzed + case.text + ";")
        return "%s: error %s" % (case.analyzed, error) if internal(error) else None

    def depends_on_plan(self, case, got):
        """Does another plan of PostgreSQL's answer as gpuconc did?"""
        for off, one in ALTERNATIVES:
            self.off.run(" ".join(["SET %s = off;" % name for name in off] + ["SET %s = 1;" % name for name in one]))
            try:
                other = self.ask_case(self.off, case)
            finally:
                self.off.run(" ".join("RESET %s;" % name for name in off + one))
            if case.differ(other, got) is None and len(other) == len(got):
                return True
        return False

    def case_difference(self, case, note=False):
        """None if both agree, else what is wrong."""
        if self.case_too_large(case):
            self.counts["too large"] += note
            return None
        self.off.run("SET statement_timeout = '%s';" % OWN_TIMEOUT)
        expected = self.ask_case(self.off, case)
        error = expected[-1][1]
        if error and error[0] in NO_QUERY:
            self.counts["not a query"] += note
            if note and self.options.verbose:
                print("-- not a query: %s" % (error,))
            return None
        if error and error[0] == "57014":
            self.counts["too slow"] += note
            return None
        used = self.counters()
        got = self.ask_mode(case)
        now = self.counters()
        if note:
            self.note_case(case, used, now, expected)
        if now[2] > used[2]:
            return "a kernel could not be compiled"
        return self.judge(case, expected, got, note) or self.explains(case)

    def judge(self, case, expected, got, note):
        wrong = case.differ(expected, got)
        bad, own = got[-1][1], expected[-1][1]
        if internal(bad) and bad != own:
            return "internal error %s" % (bad,)
        if wrong is None:
            return None
        if bad and bad[0] == "57014":
            # Forced plans may ask for each row of an outer query: slow is not wrong.
            self.counts["too slow"] += note
            return None
        if case.hazards > 1 and bad and own and {bad[0], own[0]} <= set(HAZARDS):
            # which of several errors comes first is not defined
            return None
        if not (bad and bad[0] == BACKWARD) and self.depends_on_plan(case, got):
            self.counts["depends on the plan"] += note
            if note and self.options.verbose:
                print("-- depends on the plan: %s" % wrong)
            return None
        if case.hazards and own and own[0] in HAZARDS and not bad:
            # One of several conditions raises it; a row that another one drops never meets that.
            self.counts["missed errors"] += note
            if note and self.options.verbose:
                print("-- missed error: %s" % wrong)
            return None
        return wrong

    def note_case(self, case, used, now, expected):
        requests = now[0] - used[0]
        self.counts["queries"] += 1
        self.counts["statements"] += 1
        self.counts["offloaded" if requests > 0 else "fell back" if now[1] > used[1] else "not offloaded"] += 1
        error = expected[-1][1]
        if error:
            self.counts["errors"] += 1
            self.errors[error[0] + " " + error[1][:60]] += 1
        self.counts["empty"] += expected[0][0] == []
        for tag in case.tags:
            self.tagged[tag]["cases"] += 1
            self.tagged[tag]["offloaded"] += requests > 0
            self.tagged[tag]["several"] += requests > len(case.steps())
            self.tagged[tag]["fell back"] += now[1] > used[1]

    def reduced_case(self, case, wrong):
        """A smaller case with the same kind of fault."""
        def still(candidate):
            try:
                now = self.case_difference(candidate)
            except Lost as lost:
                self.reconnect()
                return wrong.startswith("lost") and "does not answer" not in str(lost)
            return bool(now) and signature(now) == signature(wrong)
        return reduce(case, still, self.options.reduce_seconds)

    def one_case(self, seed, number, case, rels):
        """Asks it, and reports what is wrong.  False where there were too many mismatches."""
        try:
            wrong = self.case_difference(case, note=True)
        except Lost as lost:
            wrong = "lost: %s" % " ".join(str(lost).split())
            self.reconnect()
        if not wrong:
            return True
        self.mismatches += 1
        print("MISMATCH: seed %s, query %d (%s): %s\n%s" % (seed, number, case.mode, wrong, case), flush=True)
        if len(case.steps()) == 1:
            try:
                self.diagnose(self.on, case, [rel.name for rel in rels if re.search(r"\b%s\b" % rel.name, case.text)])
            except Lost:
                self.reconnect()
        # the same fault again and again is reduced twice
        kind, state = signature(wrong)
        self.faults[kind + " " + state] += 1
        if not self.options.no_reduce and self.faults[kind + " " + state] <= 2:
            small = self.reduced_case(case, wrong)
            try:
                again = self.case_difference(small)
            except Lost as lost:
                again = "lost: %s" % " ".join(str(lost).split())
                self.reconnect()
            print("  reduced: %s\n%s" % (again, small))
        print("  again: fuzz.py %s--seed %s --only %d --shapes %s\n" % ("--beside " if self.options.beside else "", seed, number, self.options.shapes), flush=True)
        return self.mismatches < self.options.max_mismatches

    def report_statements(self):
        if not self.counts["statements"]:
            return
        print("%d statements of many shapes: %d without rows, %d depend on the plan; offloaded by construct:" % (
            self.counts["statements"], self.counts["empty"], self.counts["depends on the plan"]))
        if self.faults:
            print("  faults: %s" % ", ".join("%s: %d" % pair for pair in self.faults.most_common()))
        print("  seconds: %d of PostgreSQL's own plans, %d of gpuconc's" % (self.off.seconds, self.on.seconds))
        for error, count in self.errors.most_common(8):
            print("  %5d raised %s" % (count, error))
        for tag, seen in sorted(self.tagged.items()):
            share = 100 * seen["offloaded"] / seen["cases"]
            print("  %-46s %6d %4.0f %%%s%s" % (tag, seen["cases"], share, ", %d fell back" % seen["fell back"] if seen["fell back"] else "",
                                          "   NEVER" if not seen["offloaded"] else ""))
