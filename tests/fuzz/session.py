"""session.py: a psql process of the fuzzer."""
import os
import select
import subprocess
import sys
import time

from tables import NULL

FIELD, RECORD = "\x1f", "\x1e"
PATIENCE = 7200           # seconds without an answer after which a session hangs, on however busy a machine


class Lost(Exception):
    """The session or the server is gone, or hangs."""


class Session:
    """A psql process that is fed one statement at a time."""

    def __init__(self, settings):
        self.settings = settings
        self.seconds = 0          # spent waiting for it
        self.open()

    def open(self):
        command = [os.environ.get("PSQL", "psql"), "-X", "-q", "-A", "-t", "-F", FIELD, "-R", RECORD,
                   "-P", "null=" + NULL, "-v", "VERBOSITY=terse", "-v", "SHOW_CONTEXT=never"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.buffer = bytearray()
        self.number = 0
        for setting in self.settings:
            self.run(setting)

    def run(self, sql, timeout=PATIENCE):
        """Rows (lists of strings), or None and the error's (SQLSTATE, message)."""
        started = time.monotonic()
        try:
            self.send(sql)
            return self.answer(timeout)
        finally:
            self.seconds += time.monotonic() - started

    def run_all(self, statements, timeout=PATIENCE):
        """run()'s result for each statement, at the cost of one: they are sent at once.  An error stops nothing."""
        started = time.monotonic()
        first = self.number + 1
        try:
            for sql in statements:
                self.send(sql)
            return [self.answer(timeout, number) for number in range(first, self.number + 1)]
        finally:
            self.seconds += time.monotonic() - started

    def send(self, sql):
        self.number += 1
        end = "\x02end %d " % self.number
        text = "%s\n\\echo '%s' :SQLSTATE\n" % (sql, end)
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Lost("psql is gone")

    def answer(self, timeout=PATIENCE, number=None):
        end = "\x02end %d " % (number or self.number)
        output, state = self.read_until(end.encode(), timeout)
        if state != "00000":
            return None, (state, output.strip().replace("\n", " "))
        # One row of one empty text is a line of its own; no rows are nothing.
        if output == "":
            return [], None
        output = output[:-1] if output.endswith("\n") else output
        return [row.split(FIELD) for row in output.split(RECORD)], None

    def read_until(self, mark, timeout):
        deadline = time.monotonic() + timeout
        fd = self.process.stdout.fileno()
        start = 0
        while True:
            at = self.buffer.find(mark, start)
            newline = self.buffer.find(b"\n", at) if at >= 0 else -1
            if newline >= 0:
                output = self.buffer[:at].decode(errors="replace")
                state = self.buffer[at + len(mark):newline].decode().strip()
                del self.buffer[:newline + 1]
                return output, state
            start = max(0, len(self.buffer) - 100)
            ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Lost("no answer within %d s" % timeout)
            data = os.read(fd, 1 << 16)
            if not data:
                raise Lost("psql ended: " + self.buffer.decode(errors="replace")[-500:])
            self.buffer += data

    def must(self, sql):
        rows, error = self.run(sql)
        if error:
            sys.exit("fuzz: %s\n%s" % (error[1], sql[:2000]))
        return rows

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.kill()
        self.process.wait()
