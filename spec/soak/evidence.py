"""What a soak has left behind, put in order: runs, faults, what was asked for, what the store says."""
import bisect
import collections
import datetime
import json
import os

import line
from faces import OUTSIDE

SECOND = 10 ** 9   # of the lines' clock
MS = 10 ** 6
GRACE = 3.0        # shutdown_wait of the folder, in seconds
LOCK = 2.0         # its lock_time
SETTLING = 5.0     # so long after a fault it may still be felt
TAKING = 10.0      # so long a command that takes locks away may be under way
TAKEN = ("job suspend", "job cancel", "job execute", "job delete", "definition suspend")
SUCCESSFUL, DELETED, CANCELLED = 1, 2, 3
OPEN_ENDED = 1 << 62


def milliseconds(text):
    if not text:
        return None
    at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return round(at.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


class Run:
    """One call of a handler, from its start line to its end line, or to its process's end."""

    def __init__(self, start):
        self.pid, self.node, self.job, self.token = start.pid, start.node, start.job, start.token
        self.attempt, self.priority, self.lane = start.attempt, start.priority, start.lane
        self.retries, self.hash, self.due = start.retries, start.hash, milliseconds(start.due)
        self.marker, self.handler = (start.note.split(" ") + ["-"])[:2]
        self.start, self.wall = start.t, start.wall
        self.end = self.end_wall = self.word = None

    def finish(self, end):
        self.end, self.end_wall, self.word = end.t, end.wall, end.event


class Job:
    """What the witness tells of one job, in the order of the commits."""

    def __init__(self, born):
        marker, self.unique, self.batch, self.lane = json.loads(born["note"])
        self.id, self.marker, self.handler = born["job"], marker or "-", born["handler"]
        self.due, self.retries, self.seq = born["old"], born["new"], born["seq"]
        self.rows = []
        self.runs = []

    def of(self, what):
        return [row for row in self.rows if row["what"] == what]

    def outcomes(self):
        return [row["new"] for row in self.of("ended")]

    def dues(self):
        return [self.due] + [row["new"] for row in self.of("due")]


class Evidence:
    def __init__(self, lines, dump, logs=None):
        self.lines = lines
        self.dump = dump
        self.logs = logs or {}
        self.broken = 0
        self.by = collections.defaultdict(list)
        for entry in lines:
            self.by[entry.source, entry.event].append(entry)
        begun = self.by["N", "begun"]
        words = begun[0].note.split() if begun else []
        told = dict(zip(words[::2], words[1::2]))
        self.seed, self.slow = told.get("seed", "-"), float(told.get("slow", 1))
        self.server = told.get("store") == "server"  # then each executor has another clock
        self.base = begun[0].wall - begun[0].t // MS if begun else 0
        self.missing = [entry.note for entry in self.by["N", "missing"]]
        self._read_faults()
        self._read_runs()
        self._date_rows()
        self._read_jobs()
        self._read_verbs()

    # ---- reading

    @classmethod
    def load(cls, root):
        lines, broken = [], 0
        with open(os.path.join(root, "log"), "rb") as file:
            for raw in file.read().split(b"\n"):
                entry = line.read(raw)
                broken += entry is None and raw != b""
                if entry:
                    lines.append(entry)
        lines.sort(key=lambda entry: entry.t)
        with open(os.path.join(root, "dump.json"), encoding="utf-8") as file:
            dump = json.load(file)
        logs = {}
        for name in sorted(os.listdir(root)):
            if name.endswith(".log"):
                with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                    logs[name] = file.read()
        evidence = cls(lines, dump, logs)
        evidence.broken = broken
        return evidence

    def _pairs(self, begin, end, key):
        """[(key, t0, t1)] of each beginning and the next end of the same key."""
        pairs, opened = [], {}
        for entry in self.lines:
            if entry.source == "N" and entry.event == begin:
                opened.setdefault(key(entry), entry.t)
            elif entry.source == "N" and entry.event == end and key(entry) in opened:
                pairs.append((key(entry), opened.pop(key(entry)), entry.t))
        return pairs + [(which, t, OPEN_ENDED) for which, t in opened.items()]

    def _read_faults(self):
        self.kills = {e.pid: e.t for e in self.by["N", "kill"]}
        self.gone = dict(self.kills)
        for event in ("exited", "died"):
            self.gone.update({e.pid: e.t for e in self.by["N", event] if e.pid not in self.gone})
        self.stops = self._pairs("stop", "cont", lambda e: e.pid)
        # When the store could not be written: the disk was full, or the server was away.
        self.full = self._pairs("filling", "emptied", lambda e: 0) + \
            self._pairs("outage", "back", lambda e: 0)
        self.jumps = self._pairs("jumping", "clock", lambda e: 0)
        self.offsets = [(0, 0)] + [(e.t, int(e.due)) for e in self.by["N", "clock"]]
        self.stalls = [(e.t, e.attempt) for e in self.by["N", "stalled"]]
        drains = [e.t for e in self.by["P", "verb"] if "executor drain" in e.note]
        resumes = [e.t for e in self.by["P", "verb-done"] if "executor resume" in e.note]
        self.troubles = [(a, b) for _, a, b in self.stops + self.full + self.jumps
                         + self._pairs("hup", "hup-done", lambda e: 0)]
        self.troubles += [(t - ms * MS, t) for t, ms in self.stalls]
        self.troubles += [(a, b) for _, a, b in self._pairs("delayed", "prompt", lambda e: e.node)]
        for event in ("kill", "term", "died", "started", "broken", "stepped"):
            self.troubles += [(e.t, e.t) for e in self.by["N", event]]
        for t in drains:
            after = [r for r in resumes if r > t]
            self.troubles.append((t, after[0] if after else OPEN_ENDED))
        begun = {e.node: e for e in reversed(self.by["N", "started"])}.values()
        self.troubles = [(a, b) for a, b in self.troubles if a not in [e.t for e in begun]]

    def _read_runs(self):
        self.runs, opened = [], {}
        for entry in self.lines:
            if entry.source != "H":
                continue
            key = (entry.pid, entry.job, entry.token)
            if self.server:
                entry = entry._replace(wall=entry.t // MS + self.base)
            elif entry.node.startswith(OUTSIDE):  # its own clock is the true one
                entry = entry._replace(wall=entry.wall + self.offset_at(entry.t))
            if entry.event == "start":
                run = opened[key] = Run(entry)
                self.runs.append(run)
            elif entry.event not in ("item", "batch") and key in opened:
                opened.pop(key).finish(entry)
        self.intents = {e.note.split()[0]: e for e in self.by["P", "intent"]}
        self.answers = {}
        for event in ("ack", "held", "kept", "nack", "unknown"):
            for entry in self.by["P", event]:
                self.answers[entry.note.split()[0]] = entry

    def offset_at(self, t):
        """By how much the clock of the executors was ahead at a time of the lines."""
        return self.offsets[bisect.bisect_right(self.offsets, (t, OPEN_ENDED)) - 1][1]

    def _date_rows(self):
        """When each row of the witness was written, by the clock of the lines: their order is that
        of the commits, so of the offsets that the clock has had, none comes again."""
        ends = [t for t, _ in self.offsets[1:]] + [OPEN_ENDED]
        at, last = 0, 0
        for row in self.dump["witness"]:
            for i in range(at, len(self.offsets)):
                begins, offset = self.offsets[i]
                t = (row["at"] - self.base - offset) * MS
                if max(begins, last) - SECOND // 10 <= t <= ends[i] + SECOND // 10:
                    at = i
                    break
            row["t"] = last = (row["at"] - self.base - self.offsets[at][1]) * MS

    def _read_jobs(self):
        self.jobs, self.batch_rows = {}, []
        for row in self.dump["witness"]:
            if row["what"] == "born":
                self.jobs[row["job"]] = Job(row)
            elif row["what"] == "batch":
                self.batch_rows.append(row)
            elif row["job"] in self.jobs:
                self.jobs[row["job"]].rows.append(row)
        for run in self.runs:
            if run.job in self.jobs:
                self.jobs[run.job].runs.append(run)
        self.by_marker = collections.defaultdict(list)
        for job in self.jobs.values():
            self.by_marker[job.marker].append(job)
        places = {row["id"] for name in ("ready", "timer", "parked", "locked")
                  for row in self.dump[name]}
        self.dead = {row["id"] for row in self.dump["job"]
                     if row["retries"] == 0 and not self._has_ended(row["id"])}
        self.suspended = {row["id"] for row in self.dump["job"]
                          if row["suspended"] and not self._has_ended(row["id"])}
        self.live = places | self.dead | self.suspended

    def _has_ended(self, job):
        return job in self.jobs and bool(self.jobs[job].outcomes())

    def _read_verbs(self):
        self.verbs = collections.defaultdict(list)  # of a job's id or a handler's name: (t, verb)
        for entry in self.by["P", "verb"]:
            who, *words = entry.note.split()
            self.verbs[entry.job if entry.job is not None else who].append(
                (entry.t, " ".join(words[:2])))

    # ---- asking

    def offset(self, t):
        return self.offsets[bisect.bisect(self.offsets, (t, OPEN_ENDED)) - 1][1]

    def steady(self, since, until):
        """Whether nobody set the clock from `since` to `until`, with a second to spare."""
        return not any(a - SECOND < until and since - SECOND < b for _, a, b in self.jumps)

    def hindered(self, since, until):
        """Whether the disk was full at some time between."""
        return any(a < until and since < b for _, a, b in self.full)

    def calm(self, since, until):
        """Whether nothing was wrong, nor had been shortly before."""
        return not any(a < until and since < b + SETTLING * SECOND
                       for a, b in self.troubles)

    def touched(self, job, *verbs):
        """Whether an operator may have done one of these to the job (any, if none is named)."""
        known = self.jobs.get(job)
        said = self.verbs.get(job, []) + self.verbs.get(known.handler if known else None, [])
        return any(not verbs or verb in verbs for _, verb in said)

    def disturbed(self, job, since, until):
        """Whether an operator may have taken the job's lock away between, or shortly before."""
        known = self.jobs.get(job)
        said = self.verbs.get(job, []) + self.verbs.get(known.handler if known else None, [])
        return any(verb in TAKEN and since - TAKING * SECOND < t < until for t, verb in said)

    def stood(self, since, until):
        """Whether any process stood still: if it was writing, nobody else could write."""
        return any(a < until and since < b for _, a, b in self.stops)

    def stalled(self, since, until):
        """Whether the machine gave us no time at all for a second or more, between."""
        return any(t - ms * MS < until and since < t for t, ms in self.stalls)

    def stopped(self, pid, since, until, least=0.0):
        """Whether the process stood still for so long, at some time between."""
        return any(who == pid and a < until and since < b and min(b, until) - a >= least * SECOND
                   for who, a, b in self.stops)

    def refused(self, run):
        """Whether an executor says that the lock was lost before the result could be written."""
        said = 'event="stale outcome refused" job=%d handler=%s token=%d ' % (
            run.job, run.handler, run.token)
        return any(said in log for log in self.logs.values())

    def certain_end(self, run):
        """No later than this the run was over; its start, where nothing is known."""
        if run.end is not None:
            return run.end
        return max(run.start, self.kills.get(run.pid, run.start))

    def history(self, job):
        """Everything that is known of a job, in order: milliseconds since the soak began."""
        known = self.jobs.get(job)
        marker = known.marker if known else None
        shown = []
        for e in self.lines:
            if e.job == job and e.source in "PH" or marker and e.note and \
                    e.note.split()[0] == marker and marker != "-":
                shown.append((e.t, "%s %s/%d %s attempt=%s token=%s priority=%s lane=%s due=%s"
                              " retries=%s %s" % (e.source, e.node, e.pid, e.event, e.attempt, e.token,
                                                  e.priority, e.lane, e.due, e.retries, e.note)))
        for row in self.dump["witness"]:
            if row["job"] == job and row["what"] != "batch":
                shown.append((row["t"], "W %s token=%s owner=%s %s -> %s %s" % (
                    row["what"], row["token"], row["owner"], row["old"], row["new"], row["note"])))
        pids = {run.pid for run in (known.runs if known else [])}
        for e in self.lines:
            if e.source == "N" and e.event != "sample" and (e.pid in pids or e.event in (
                    "clock", "filling", "emptied", "drain", "quiet", "stuck")):
                shown.append((e.t, "N %s/%d %s %s" % (e.node, e.pid, e.event, e.due or "")))
        begun = self.lines[0].t if self.lines else 0
        return ["%8.1f %s" % ((t - begun) / MS, text) for t, text in sorted(shown)]
