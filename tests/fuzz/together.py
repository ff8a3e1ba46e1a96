"""together.py: queries that several sessions ask at the same time, answered by shared scans."""
import random
import select
import time

from compare import rows_differ
from queries import Generator
from session import Lost

# Kinds of shared scans: setting of gpuconc.debug_force_shared_scan, and its name in the views
KINDS = (("fused", "shared scan"), ("selection", "selection scan"))


class Together:
    """Mixed into the fuzzer, which has the sessions."""

    def configure(self, **settings):
        """For the worker; who connects later has them, and so has the worker by then."""
        for name, value in settings.items():
            self.off.must("ALTER SYSTEM SET gpuconc.%s = %s;" % (name, value) if value is not None else
                          "ALTER SYSTEM RESET gpuconc.%s;" % name)
        self.off.must("SELECT pg_reload_conf();")
        for name, value in settings.items():
            while value is not None and self.off.run("SHOW gpuconc.%s;" % name)[0] != [[str(value)]]:
                pass

    def waiting(self, pids):
        """How many of these sessions wait for the device, and how many do something else."""
        rows = self.off.must("SELECT count(*) FILTER (WHERE wait_event_type = 'Extension'), count(*) FROM pg_stat_activity "
                             "WHERE pid IN (%s) AND state = 'active';" % ", ".join(pids))
        return int(rows[0][0]), int(rows[0][1])

    def ask_together(self, queries):
        """(rows, error) of each.  Not all of them need the device: as soon as those that
        are left wait for it, they are let go."""
        for session, query in zip(self.many, queries):
            for statement in query.statements()[0]:
                session.run(statement)
        pids = [session.must("SELECT pg_backend_pid();")[0][0] for session in self.many]
        self.configure(debug_hold_requests=len(queries))
        for session, query in zip(self.many, queries):
            session.send(query.statements()[1])
        deadline = time.monotonic() + 20
        before = None
        while time.monotonic() < deadline:
            now = self.waiting(pids)
            # twice the same, since one that waits may only be about to be answered
            if now[0] == now[1] and now == before:
                break
            before = now
        if now[0]:
            self.configure(debug_hold_requests=now[0])
        # When they are let go is not seen, but when the first of them has its answer.
        while now[0] and self.waiting(pids)[0] == now[0] and time.monotonic() < deadline:
            select.select([], [], [], 0.01)
        # Whoever has to ask again is not held back.
        self.configure(debug_hold_requests=0)
        answers = [session.answer() for session in self.many[:len(queries)]]
        for session, query in zip(self.many, queries):
            for statement in query.statements()[2]:
                session.run(statement)
        return answers

    def count_scans(self, kind, since):
        """How many scans and requests of them there were after a batch."""
        rows = self.off.must("SELECT count(DISTINCT (e -> 'args' ->> 'batch', e -> 'args' ->> 'scan')), count(*) "
                             "FROM jsonb_array_elements(gpuconc_timeline(64)::jsonb -> 'traceEvents') AS e "
                             "WHERE e ->> 'cat' = '%s' AND (e -> 'args' ->> 'batch')::bigint > %s;" % (dict(KINDS)[kind], since))
        self.counts[kind] += int(rows[0][0])
        self.counts[kind + " requests"] += int(rows[0][1])

    def differ_together(self, seed, numbers, queries, kind, tables):
        expected = [self.ask(self.off, query) for query in queries]
        chosen = [i for i, query in enumerate(queries) if not expected[i][1] and
                  (query.params or not self.too_large(query))]
        since = self.off.must("SELECT coalesce(max(id), 0) FROM gpuconc_stat_batches;")[0][0]
        answers = self.ask_together([queries[i] for i in chosen])
        self.count_scans(kind, since)
        self.counts["together"] += len(chosen)
        for session, i, (got, error) in zip(self.many, chosen, answers):
            wrong = "error %s" % (error,) if error else rows_differ(expected[i][0], got, queries[i].compare())
            if wrong:
                self.mismatches += 1
                print("MISMATCH: seed %s, together (%s), query %d: %s\n%s" % (seed, kind, numbers[i], wrong, queries[i]))
                print("  beside queries %s" % [numbers[k] for k in chosen], flush=True)
                self.diagnose(session, queries[i], [t.name for t in tables], got)
                print("  alone: %s\n" % self.difference(queries[i]), flush=True)

    def schema_together(self, seed, tables, deadline):
        """Few tables again and again, so that there is something to share."""
        rng = random.Random(seed)
        for table in tables:
            # cached, but for a few rows at most: only what is cached is shared
            self.off.must("VACUUM (FREEZE, ANALYZE) %s;" % ", ".join(table.stored))
            if rng.random() < 0.5:
                self.off.must("UPDATE {0} SET {1} = {1} WHERE ctid < '(0,9)';".format(table.name, table.columns[-1].name))
        number = 0
        while number < self.options.per_schema:
            if time.monotonic() > deadline or self.counts["together"] >= self.options.queries:
                return False
            numbers = list(range(number, number + self.options.together))
            queries = [Generator(random.Random("%s/%d" % (seed, n)), tables).query() for n in numbers]
            number += self.options.together
            if self.options.verbose:
                print("-- seed %s queries %s\n%s" % (seed, numbers, "\n".join(str(q) for q in queries)), flush=True)
            # A table's first shapes keep their bodies: forget those of the last round.
            for table in tables:
                for name in table.stored:
                    self.off.must("SELECT gpuconc_evict('{0}'); SELECT gpuconc_prewarm('{0}');".format(name))
            kind = KINDS[number // self.options.together % len(KINDS)][0]
            self.configure(debug_force_shared_scan=kind)
            try:
                self.differ_together(seed, numbers, queries, kind, tables)
            except Lost as lost:
                self.mismatches += 1
                print("LOST: seed %s, together (%s), queries %s: %s\n%s\n" % (seed, kind, numbers, lost, "\n".join(str(q) for q in queries)), flush=True)
                raise
            if self.mismatches >= self.options.max_mismatches:
                return False
        return True

    def report_together(self, started):
        self.configure(debug_force_shared_scan=None, debug_hold_requests=None)
        print("%d queries, %d at a time, from seed %d in %d s: %s" % (
            self.counts["together"], self.options.together, self.options.seed, time.monotonic() - started,
            ", ".join("%d requests by %d %s scans" % (self.counts[kind + " requests"], self.counts[kind], kind) for kind, _ in KINDS)))
        print("%d mismatches" % self.mismatches)
        return 1 if self.mismatches or (self.counts["together"] >= 50 and not all(self.counts[kind] for kind, _ in KINDS)) else 0
