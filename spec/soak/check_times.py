"""When things happen: what must not overlap, what must not be early, who goes first."""
import collections

from executors import CENTRAL, POOLED
from faces import OUTSIDE
from evidence import GRACE, LOCK, MS, SECOND, milliseconds

DELAYS = {"flaky": 300, "doomed": 200, "drowsy": 200, "planned": 250, "moody": 200, "asking": 400}  # ms, as the handlers say
WINDOW = 0.5  # seconds that a more important job must have been there to be taken first
NODES = ("north", "south", *POOLED, *CENTRAL)
LATE = 5.0    # seconds after its date that the most important job may begin


def lost_lock(evidence, one, other):
    """Whether the earlier run may have lost its lock before the later one began: its process, or the
    whole machine, stood still beyond the lease, or it could not write to renew it, for the disk was
    full, or another process stood still while it was writing."""
    if one.node.startswith(OUTSIDE) and not evidence.steady(one.start - LOCK * SECOND, other.start):
        return True  # its lock ends at an instant of the clock
    for pid, a, b in evidence.stops:
        if a > other.start or b < one.start - LOCK * SECOND:
            continue
        if pid != one.pid and b - a < (LOCK * 2 / 3 - 0.1) * SECOND:
            continue
        if other.start - a >= (LOCK * 2 / 3 - 0.1) * SECOND:
            return True
        if not evidence.steady(a, other.start):
            return True
    if evidence.stalled(one.start - LOCK * SECOND, other.start):
        return True
    return any(a < other.start and one.start < b + SECOND and min(b, other.start) - a > LOCK / 2 * SECOND
               for _, a, b in evidence.full)


def pairs(evidence, runs):
    """Of runs that must not overlap, in the order of their starts: those that do."""
    runs = sorted(runs, key=lambda run: run.start)
    last = None
    for run in runs:
        if last and run.start < evidence.certain_end(last):
            yield last, run
        if not last or evidence.certain_end(run) > evidence.certain_end(last):
            last = run


def overlap(evidence, report):
    for job in evidence.jobs.values():
        if len(job.runs) > 1:
            report.look()
        for one, other in pairs(evidence, job.runs):
            if not lost_lock(evidence, one, other) and \
                    not evidence.disturbed(job.id, one.start, other.start):
                report.violated("job %d ran in %s/%d and %d ms later in %s/%d" % (
                    job.id, one.node, one.pid, (other.start - one.start) // 10 ** 6, other.node,
                    other.pid), job.id)


def lanes(evidence, report):
    members = collections.defaultdict(list)
    for run in evidence.runs:
        if run.lane and run.handler != "slow":
            members[run.lane].append(run)
            report.look()
    for lane, runs in members.items():
        for one, other in pairs(evidence, runs):
            # One that was suspended or cancelled is cut off, which it cannot say.
            cut = one.end is None and evidence.disturbed(one.job, one.start, other.start)
            if one.job != other.job and not cut and not lost_lock(evidence, one, other):
                report.violated("lane %s: job %d ran in %s/%d, and %d ms later job %d in %s/%d" % (
                    lane, one.job, one.node, one.pid, (other.start - one.start) // 10 ** 6,
                    other.job, other.node, other.pid), other.job)


def backoff(evidence, report):
    for job in evidence.jobs.values():
        delay = DELAYS.get(job.handler)
        if not delay or evidence.touched(job.id, "job due", "job retry", "job execute", "job dead",
                                         "definition retries"):
            continue
        runs = sorted(job.runs, key=lambda run: run.start)
        for one, other in zip(runs, runs[1:]):
            counted = other.attempt == one.attempt + 1 if one.word == "fail" else \
                one.word == "snooze" and other.due is not None
            if not counted or not evidence.steady(one.start, other.start):
                continue
            report.look()
            if other.wall < one.end_wall + delay - 10:
                report.violated("job %d failed and ran again after %d ms instead of %d" % (
                    job.id, other.wall - one.end_wall, delay), job.id)


def early(evidence, report):
    for run in evidence.runs:
        if run.due is None or evidence.touched(run.job, "job execute"):
            continue
        if not evidence.steady(run.start - 5 * SECOND, run.start):
            continue
        report.look()
        intent = evidence.intents.get(run.marker)
        asked = milliseconds(intent.due) if intent and run.attempt == 1 else None
        if asked is not None and asked != run.due and not evidence.touched(run.job):
            report.violated("job %d is due %d ms from when it was asked for" % (
                run.job, run.due - asked), run.job)
        if run.wall < run.due - 10:
            report.violated("job %d ran %d ms before its date" % (run.job, run.due - run.wall),
                            run.job)


def late(evidence, report):
    """Alarms are the most important there are; when nothing is wrong they are on time."""
    for job in evidence.jobs.values():
        intent = evidence.intents.get(job.marker)
        answer = evidence.answers.get(job.marker)
        if job.handler != "alarm" or not intent or not intent.due or not job.runs or not answer:
            continue
        first = min(job.runs, key=lambda run: run.start)
        due = max(first.start - (first.wall - milliseconds(intent.due)) * MS, answer.t)
        if not evidence.calm(due, max(first.start, due)):
            continue
        report.look()
        if first.start - due > LATE * SECOND * evidence.slow:
            report.violated("job %d ran %d ms after its date" % (
                job.id, (first.start - due) // MS), job.id)


def serves(node, priority):
    if node in POOLED:
        return True
    if node in CENTRAL:
        return 10 <= priority <= 50
    return priority >= 20 if node == "north" else priority <= 60


def first_wait(job, acknowledged):
    """Of a job's first run: since when it could be taken, when it was. Who had taken the job before
    may have given it back."""
    first = min(job.runs, key=lambda run: run.start)
    since = acknowledged
    for row in job.rows:
        if row["what"] == "lock" and row["token"] == first.token:
            return first, since, row["t"]
        if row["what"] == "unlock":
            since = max(since, row["t"])
    return first, since, first.start


def priority(evidence, report):
    """No job of the storm is taken while one that is more important was there for the whole window."""
    window = WINDOW * SECOND * evidence.slow
    waits = []  # of each: priority, since when it could be taken, when it was, by whom
    for job in evidence.jobs.values():
        answer = evidence.answers.get(job.marker)
        if job.handler == "plain" and job.runs and answer and answer.event == "ack":
            first, since, taken = first_wait(job, answer.t)
            waits.append((first.priority, since, taken, first.node, job.id))
    for mine, _, taken, node, job in waits:
        if node not in NODES or not evidence.calm(taken - window, taken):
            continue
        report.look()
        worse = [other for level, since, then, _, other in waits if level > mine
                 and since < taken - window and then > taken + 20 * MS and serves(node, level)]
        if worse:
            report.violated("job %d of priority %d was taken by %s while %d more important ones waited,"
                            " such as %d" % (job, mine, node, len(worse), worse[0]), worse[0])


def limits(evidence, report):
    runs = sorted((run for run in evidence.runs if run.handler == "capped"),
                  key=lambda run: run.start)
    going = []
    for run in runs:
        report.look()
        going = [other for other in going if evidence.certain_end(other) > run.start]
        beside = [other for other in going if not lost_lock(evidence, other, run)]
        if len(beside) >= 2:
            report.violated("jobs %s ran at once, the limit is 2" % (
                [other.job for other in beside] + [run.job]), run.job)
        going.append(run)


def lock_of(run, lock):
    """The time of the run's lock, or of its line where the clock's steps have put the lock elsewhere."""
    return lock if run.start - 60 * SECOND < lock < run.start else run.start


def rates(evidence, report):
    """A run begins after its lock and before its line; six have begun within a second only where the
    first lock and the last line lie no further apart."""
    starts = sorted((run for run in evidence.runs if run.handler == "rated"),
                    key=lambda run: run.start)
    taken = {(row["job"], row["token"]): row["t"] for row in evidence.dump["witness"]
             if row["what"] == "lock"}
    locks = sorted(lock_of(run, taken.get((run.job, run.token), run.start)) for run in starts)
    report.look(len(starts))
    for lock, sixth in zip(locks, starts[5:]):
        if sixth.start - lock < 0.99 * SECOND and not \
                evidence.stopped(sixth.pid, lock - SECOND, sixth.start):
            report.violated("six began within %d ms, five may" % (
                (sixth.start - lock) // 10 ** 6), sixth.job)


def drain(evidence, report):
    exits = {entry.pid: entry for entry in evidence.by["N", "exited"]}
    for term in evidence.by["N", "term"]:
        report.look()
        end = exits.get(term.pid)
        if end and end.attempt == -9 and term.pid in evidence.kills:
            continue  # killed while it ended
        if not end:
            if term.pid not in evidence.kills or any(e.pid == term.pid
                                                     for e in evidence.by["N", "overdue"]):
                report.violated("%s/%d did not end" % (term.node, term.pid))
            continue
        hindered = evidence.stopped(term.pid, term.t, end.t) or any(
            a < end.t and term.t < b + SECOND for _, a, b in evidence.full)
        took = (end.t - term.t) / SECOND
        if took > (GRACE + 1) * evidence.slow and not hindered:
            report.violated("%s/%d took %.1f s to end" % (term.node, term.pid, took))
        early = any(e.pid == term.pid and term.t - e.t < 2 * SECOND * evidence.slow
                    for e in evidence.by["N", "started"]) and end.attempt == -15
        if end.attempt != 0 and not hindered and not early:
            report.violated("%s/%d ended with %s" % (term.node, term.pid, end.attempt))
        if end.retries not in (0, None) and not hindered:
            report.violated("%s/%d left %d jobs locked" % (term.node, term.pid, end.retries))
        later = [run for run in evidence.runs if run.pid == term.pid
                 and run.start > term.t + 0.5 * SECOND * evidence.slow]
        if later and not hindered:
            report.violated("%s/%d began job %d %d ms after it was told to end" % (
                term.node, term.pid, later[0].job, (later[0].start - term.t) // 10 ** 6), later[0].job)
