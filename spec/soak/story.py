"""Writes by hand what a soak leaves behind: lines, rows of the witness, a dump."""
import datetime
import json

from evidence import Evidence
import line

BEGIN = 1700000000000  # ms, of both clocks
TABLES = ("ready", "timer", "parked", "locked", "lane", "limited", "job", "incident", "batch")


class Story:
    def __init__(self):
        self.ms = 0
        self.token = 0
        self.lines = []
        self.dump = {table: [] for table in TABLES}
        self.dump.update(witness=[], integrity=["ok"], foreign=[], checked={"status": 0, "text": ""})
        self.logs = {}
        self.line("N", "begun", note="seed 1 seconds 1 slow 1")
        for node, pid in (("north", 11), ("south", 12)):
            self.line("N", "started", node=node, pid=pid)
        self.wait(10000)

    def wait(self, ms):
        self.ms += ms

    def line(self, source, event, **fields):
        values = dict.fromkeys(line.FIELDS)
        values.update(t=(BEGIN + self.ms) * 10 ** 6, source=source, event=event, pid=1, node="driver",
                      wall=BEGIN + self.ms)
        values.update(fields)
        shown = line.show(values)
        self.lines.append(line.read(shown[:-1]))

    def row(self, what, job, **fields):
        row = dict.fromkeys(("token", "owner", "old", "new", "handler", "note"))
        row.update(fields, seq=len(self.dump["witness"]) + 1, at=BEGIN + self.ms, what=what, job=job)
        self.dump["witness"].append(row)

    # ---- a job's life, step by step

    def intent(self, marker, handler="chore", **fields):
        self.line("P", "intent", note="%s %s" % (marker, handler), **fields)

    def born(self, job, marker=None, handler="chore", due=None, retries=3, unique=None, lane=None):
        self.row("born", job, old=due, new=retries, handler=handler,
                 note=json.dumps([marker, unique, None, lane]))

    def create(self, job, handler="chore", due=None, **fields):
        """Asked for, written, acknowledged; its marker is m and its number."""
        told = {name: fields.pop(name) for name in ("hash", "priority") if name in fields}
        self.intent("m%d" % job, handler, due=due and instant(due), **told)
        self.born(job, "m%d" % job, handler, due=due and BEGIN + due, **fields)
        self.line("P", "ack", job=job, note="m%d %s" % (job, handler))

    def lock(self, job):
        self.token += 1
        self.row("lock", job, token=self.token, owner=1)
        return self.token

    def start(self, job, handler="chore", pid=11, node="north", token=None, attempt=1, due=None,
              marker=None, **fields):
        self.line("H", "start", job=job, node=node, pid=pid, token=token or self.token,
                  attempt=attempt, due=due and instant(due),
                  note="%s %s" % (marker or "m%d" % job, handler), **fields)

    def end(self, job, word="ok", pid=11, node="north", token=None, attempt=1):
        self.line("H", word, job=job, node=node, pid=pid, token=token or self.token,
                  attempt=attempt, note="m%d -" % job)

    def unlock(self, job, token=None):
        self.row("unlock", job, token=token or self.token, owner=1)

    def ended(self, job, outcome=1):
        self.unlock(job)
        self.row("ended", job, old=1, new=outcome)

    def failed(self, job, attempt, retries, left=None):
        """A failure is settled: there were so many retries, so many are left."""
        left = retries - 1 if left is None else left
        self.unlock(job)
        self.row("retries", job, old=retries, new=left)
        self.row("failed", job, old=attempt, new=retries, note="0")

    def run(self, job, handler="chore", word="ok", ms=5, **fields):
        """Locked, begun, over."""
        self.lock(job)
        self.start(job, handler, **fields)
        self.wait(ms)
        kept = {name: fields[name] for name in ("pid", "node", "attempt") if name in fields}
        self.end(job, word, **kept)

    def live(self, job, handler="chore", **fields):
        """The whole of it."""
        told = {name: fields.pop(name) for name in ("hash",) if name in fields}
        self.create(job, handler, **told)
        self.run(job, handler, **told, **fields)
        self.ended(job)

    def evidence(self):
        lines = sorted(self.lines, key=lambda entry: entry.t)
        return Evidence(lines, self.dump, self.logs)


def instant(ms):
    at = datetime.datetime.fromtimestamp((BEGIN + ms) / 1000, datetime.timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % ((BEGIN + ms) % 1000)
