#!/usr/bin/env python3
"""Reads what a soak has left behind, and says whether the promises were kept.

    checker.py FOLDER        the log, dump.json and the executors' logs lie in it

Exit status: 0 nothing violated, 1 something was, or something was never met.
"""
import collections
import sys

import check_jobs
import check_store
import check_times
from evidence import Evidence

CHECKS = [
    ("I1", "no acknowledged job is lost", check_jobs.lost),
    ("I2", "no job that nobody asked for", check_jobs.phantom),
    ("I2b", "one key, one answer", check_jobs.keyed),
    ("I3", "each success has a run that ended well before", check_jobs.success),
    ("I4", "no run after completion", check_jobs.completion),
    ("I4b", "nothing begins without its lock", check_jobs.begun),
    ("I5", "no two runs of one job at once", check_times.overlap),
    ("I6", "one job of a lane at a time", check_times.lanes),
    ("I7", "tokens grow, the latest commits", check_jobs.fence),
    ("I8", "a failure costs one retry", check_jobs.retries),
    ("I8b", "a crash counts for the job that ran", check_jobs.crashes),
    ("I9", "no retry before its delay", check_times.backoff),
    ("I10", "one incident for each dead job", check_jobs.incidents),
    ("I11", "nothing before its date", check_times.early),
    ("I11b", "nor long after", check_times.late),
    ("I11c", "nothing that is suspended", check_jobs.suspended),
    ("I12", "the more important goes first", check_times.priority),
    ("I13", "limits hold", check_times.limits),
    ("I13b", "rates hold", check_times.rates),
    ("I13c", "one job of a unique key", check_jobs.unique),
    ("I14", "batches add up", check_store.batches),
    ("I15", "every job is somewhere, once", check_jobs.conservation),
    ("I15b", "children come with their parents' success", check_jobs.children),
    ("I16", "payloads arrive as they were sent", check_jobs.payload),
    ("I17", "the store is sane", check_store.sane),
    ("I18", "all is done once nothing goes wrong", check_store.liveness),
    ("I19", "nothing is used up for ever", check_store.resources),
    ("I20", "ends in order when it is told to", check_times.drain),
    ("I22", "each date of a cycle once", check_jobs.cycles),
]


class Report:
    """Where a check says what it has looked at, and what is wrong with it."""

    def __init__(self, name):
        self.name = name
        self.seen = 0
        self.violations = []

    def look(self, count=1):
        self.seen += count

    def violated(self, text, job=None):
        self.violations.append((text, job))


def check(evidence):
    reports = []
    for name, title, function in CHECKS:
        report = Report(name)
        function(evidence, report)
        reports.append((title, report))
    return reports


def counts(evidence):
    names = collections.Counter(entry.event for entry in evidence.lines if entry.source == "N")
    words = ["%d jobs" % len(evidence.jobs), "%d acknowledged" % len(evidence.by["P", "ack"]),
             "%d runs" % len(evidence.runs), "%d verbs" % len(evidence.by["P", "verb"])]
    for event, word in (("kill", "kills"), ("term", "terminations"), ("stop", "stops"),
                        ("clock", "clock steps"), ("full", "full disks"), ("hupped", "HUPs"),
                        ("backup-done", "backups"), ("died", "deaths by themselves")):
        words.append("%d %s" % (names[event], word))
    for event, word in (("outage", "times without a server"), ("promoted", "promotions"),
                        ("broken", "broken connections"),
                        ("delayed", "delays"), ("stepped", "clocks set")):
        if names[event]:
            words.append("%d %s" % (names[event], word))
    pages = sum(row["note"] == "page" for row in evidence.dump["witness"])
    words += ["%d locks in pages" % pages] if pages else []
    faults = collections.Counter(entry.note for entry in evidence.by["N", "fault"])
    ended = collections.Counter(run.word or "cut off" for run in evidence.runs)
    return ", ".join(words) + "\nfaults: " + ", ".join(
        "%d %s" % (count, kind) for kind, count in faults.most_common()) + "\nruns: " + ", ".join(
        "%d %s" % (count, word) for word, count in ended.most_common())


def main():
    evidence = Evidence.load(sys.argv[1])
    print(counts(evidence))
    reports = check(evidence)
    for title, report in reports:
        wrong = "" if not report.violations else "  %d VIOLATED" % len(report.violations)
        if not report.seen:
            wrong += "  NEVER MET"
        print("%-5s %-46s %7d%s" % (report.name, title, report.seen, wrong))
    first = next(((r.name, *r.violations[0]) for _, r in reports if r.violations), None)
    for _, report in reports:
        for text, job in report.violations[:3]:
            print("%s: %s" % (report.name, text))
    if first and first[2] is not None:
        print("history of job %s:" % first[2])
        print("\n".join("  " + text for text in evidence.history(first[2])[:200]))
    unmet = [r.name for _, r in reports if not r.seen]
    for text in evidence.missing:
        print("without: " + text)
    good = not first and not unmet
    print("soak: SEED=%s %s" % (evidence.seed, "nothing violated" if good else "FAILED"))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
