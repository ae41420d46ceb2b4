"""What becomes of jobs: none is lost, none comes from nowhere, each ends once."""
import collections

from faces import OUTSIDE
from evidence import CANCELLED, DELETED, LOCK, MS, SECOND, SUCCESSFUL

OWN = ("moonshift/", "batch/")        # handlers of the program, which write nothing down
WORKERS = 2                           # of each executor, as the folder says
STUCK = "handlerStuck"                # an incident that no death brings
COMMIT = 5                            # ms by which two clocks' readings may differ


def fate(evidence, job):
    """None where the job has come to a proper end, else what is wrong."""
    outcomes = job.outcomes()
    if SUCCESSFUL in outcomes:
        return None
    if DELETED in outcomes or CANCELLED in outcomes:
        if evidence.touched(job.id, "job delete", "job cancel") or job.handler in ("beat", "tick"):
            return None
        return "was deleted, and nobody asked for it"
    if job.id in evidence.dead:
        return None if job.id not in evidence.suspended else "is dead and suspended"
    if job.id in evidence.live:
        return "is still there"
    return "is lost"


def lost(evidence, report):
    for entry in evidence.by["P", "ack"] + evidence.by["P", "held"]:
        report.look()
        job = evidence.jobs.get(entry.job)
        marker = entry.note.split()[0]
        if job is None or job.marker != marker and (entry.event == "ack" or not job.unique):
            report.violated("job %s (%s) was acknowledged, and never written" % (
                entry.job, marker), entry.job)
        else:
            wrong = fate(evidence, job)
            if wrong:
                report.violated("job %d (%s, %s) %s" % (job.id, marker, job.handler, wrong), job.id)


def phantom(evidence, report):
    for run in evidence.runs:
        if run.marker == "-" or run.marker == "beat":
            continue
        report.look()
        answer = evidence.answers.get(run.marker)
        if run.marker.split(".")[0] not in evidence.intents:
            report.violated("job %d (%s) ran, and nobody created it" % (run.job, run.marker), run.job)
        elif answer and answer.event in ("nack", "kept"):
            report.violated("job %d (%s) ran, and its creation was answered with %s" % (
                run.job, run.marker, answer.event), run.job)
    for marker, jobs in evidence.by_marker.items():
        if marker not in ("-", "beat") and len(jobs) > 1 and jobs[0].handler != "tick":
            report.violated("%s was created %d times" % (marker, len(jobs)), jobs[1].id)


def keyed(evidence, report):
    """Who asks again with the same Idempotency-Key is told what was told before."""
    report.look(len(evidence.by["P", "same"]))
    for entry in evidence.by["P", "other"]:
        report.violated("job %d was created with a key that has now another answer: %s" % (
            entry.job, entry.note), entry.job)


def tokens_of_ends(job):
    """The token under which each end was written: the lock that went just before it."""
    token, pairs = None, []
    for row in job.rows:
        if row["what"] == "unlock":
            token = row["token"]
        elif row["what"] == "ended":
            pairs.append((token, row))
    return pairs


def success(evidence, report):
    for job in evidence.jobs.values():
        if job.handler.startswith(OWN) and job.handler != "batch/items":
            continue
        runs = {run.token: run for run in job.runs if run.word == "ok"}
        for token, row in tokens_of_ends(job):
            if row["new"] != SUCCESSFUL:
                continue
            report.look()
            run = runs.get(token)
            if not run:
                report.violated("job %d succeeded with token %s, under which no run ended well" % (
                    job.id, token), job.id)
            elif run.end > row["t"] + COMMIT * MS and evidence.steady(row["t"], run.end):
                report.violated("job %d succeeded %d ms before its run with token %d ended" % (
                    job.id, (run.end - row["t"]) // MS, token), job.id)


def completion(evidence, report):
    for job in evidence.jobs.values():
        ended = job.of("ended")
        if not ended:
            continue
        report.look()
        if len(ended) > 1:
            report.violated("job %d ended %d times" % (job.id, len(ended)), job.id)
        last = ended[0]
        if any(row["what"] == "lock" and row["seq"] > last["seq"] for row in job.rows):
            report.violated("job %d was locked after it had ended" % job.id, job.id)
        for run in job.runs:
            if last["new"] == CANCELLED and evidence.touched(job.id, "job cancel") or \
                    evidence.disturbed(job.id, last["t"], run.start):
                continue  # who had taken it is not asked again
            if run.start > last["t"] + 50 * MS and evidence.steady(last["t"], last["t"]) and \
                    not evidence.stopped(run.pid, last["t"] - 5 * SECOND, run.start):
                report.violated("job %d ran %d ms after it had ended" % (
                    job.id, (run.start - last["t"]) // MS), job.id)


def begun(evidence, report):
    """Nothing begins whose lock is gone. Who stood still cannot keep back what each of his workers
    was about to begin, but no more than that."""
    late = collections.defaultdict(list)
    for job in evidence.jobs.values():
        gone = {row["token"]: row["t"] for row in job.of("unlock")}
        for run in job.runs:
            since = gone.get(run.token)
            if since is None:
                continue
            report.look()
            if run.start <= since + 50 * MS or evidence.disturbed(job.id, since, run.start):
                continue
            stop = max((a for pid, a, b in evidence.stops
                        if pid == run.pid and a < since < b + SECOND and a < run.start), default=0)
            margin = 0 if stop else 5 * SECOND
            if evidence.steady(since - margin, run.start) and \
                    (stop or not evidence.hindered(since - margin, run.start)):
                late[run.node, run.pid, stop].append((run, since))
    for (node, pid, stop), runs in late.items():
        if len(runs) > (WORKERS if stop else 0):
            run, since = runs[-1]
            report.violated("%s/%d began %d jobs whose locks it had lost, job %d after %d ms" % (
                node, pid, len(runs), run.job, (run.start - since) // MS), run.job)


def fence(evidence, report):
    """One transaction may write its locks in any order; what it draws lies above all that has ever
    been given up."""
    last = 0
    locks, drawn = set(), set()
    for row in evidence.dump["witness"]:
        if row["what"] == "lock":
            report.look()
            locks.add((row["job"], row["token"]))
            if row["token"] in drawn:
                report.violated("token %d was drawn twice" % row["token"], row["job"])
            elif row["token"] <= last:
                report.violated("token %d was drawn after %d" % (row["token"], last), row["job"])
            drawn.add(row["token"])
        elif row["what"] == "unlock":
            last = max(last, row["token"])
    for (job, token), times in collections.Counter(
            (run.job, run.token) for run in evidence.runs).items():
        if times > 1:
            report.violated("job %d ran %d times with token %d" % (job, times, token), job)
    for run in evidence.runs:
        if (run.job, run.token) not in locks:
            report.violated("job %d ran with token %d, which it was never locked with" % (
                run.job, run.token), run.job)
    for job in evidence.jobs.values():
        held = None
        for row in job.rows:
            if row["what"] == "lock":
                if held is not None and not evidence.touched(job.id, "job execute"):
                    report.violated("job %d was locked with %d over %d" % (
                        job.id, row["token"], held), job.id)
                held = row["token"]
            elif row["what"] == "unlock":
                held = None


def retries(evidence, report):
    for job in evidence.jobs.values():
        changes = job.of("retries")
        if any(row["new"] < 0 for row in changes):
            report.violated("job %d has fewer than no retries" % job.id, job.id)
        if evidence.touched(job.id, "job retry", "job dead", "job execute", "definition retries"):
            continue
        failed = [row for row in job.of("failed")]
        left, after = job.retries, []
        bad = {run.attempt: run for run in job.runs if run.word in ("fail", "hopeless")}
        if failed:
            report.look()
        for row in failed:
            died = row["note"] in ("3", 3)
            run = bad.get(row["old"])
            if row["new"] != left:
                report.violated("job %d: attempt %d had %d retries instead of %d" % (
                    job.id, row["old"], row["new"], left), job.id)
                break
            left = 0 if died or run and run.word == "hopeless" else left - 1
            after.append(left)
            if not run and not died:
                report.violated("job %d: attempt %d failed without a run that did" % (
                    job.id, row["old"]), job.id)
        if [row["new"] for row in changes] != after:
            report.violated("job %d: retries went %s, by its failures they go %s" % (
                job.id, [row["new"] for row in changes], after), job.id)
        arithmetic(evidence, report, job, len(failed))


def unwritten(job, run):
    """Whether the result waited for so long to be written that its lock may have been over; or the
    clock's steps have put that elsewhere."""
    return any(row["token"] == run.token and abs(row["t"] - run.end) > LOCK * 2 / 3 * SECOND
               for row in job.of("unlock"))


def arithmetic(evidence, report, job, failed):
    """Where no process of its runs was disturbed, each run has counted once. A machine that is busy
    enough takes locks away without any fault: then their executors say that they refuse the results."""
    if not job.runs or evidence.touched(job.id) or job.of("crashes"):
        return
    if any(run.word is None or run.pid in evidence.kills for run in job.runs):
        return
    if any(unwritten(job, run) or not evidence.steady(run.start, run.end) for run in job.runs):
        return
    margin = (LOCK if evidence.server else 5) * SECOND
    for run in job.runs:
        since, until = run.start - margin, run.end + margin
        if evidence.hindered(since, until) or evidence.stood(since, until) or \
                evidence.stalled(since, until):
            return
    words = collections.Counter(run.word for run in job.runs if not evidence.refused(run))
    bad = words["fail"] + words["hopeless"]
    if bad != failed or words["ok"] > 1:
        report.violated("job %d: %s, %d failures counted" % (job.id, dict(words), failed), job.id)


def unbegun(evidence, job):
    """Deaths of processes that may have begun a run of the job and not written that down."""
    tokens = {run.token for run in job.runs}
    return [death for row in job.of("lock") if row["token"] not in tokens
            for death in evidence.kills.values()
            if row["t"] - SECOND < death < row["t"] + 5 * SECOND * evidence.slow]


def unanswered(evidence, job):
    """Locks of workers outside of which they may have heard late or never, so that none began a run.
    What comes late is given back, but the lock may be over by then."""
    if not job.handler.startswith("topic/"):
        return 0
    tokens = {run.token for run in job.runs}
    return sum(row["token"] not in tokens and
               not evidence.calm(row["t"] - SECOND, row["t"] + LOCK * SECOND)
               for row in job.of("lock"))


def crashes(evidence, report):
    """Counted for each job that ran when its process was killed, and for no other. A worker may be
    killed between the two: then nobody has written the run down. It is counted when the lock is
    found, so whoever takes that away before, by suspending the job, takes the crash away, too."""
    guessed = collections.Counter()
    for job in evidence.jobs.values():
        report.look(len(job.runs))
        counted = sum(row["new"] > row["old"] for row in job.of("crashes"))
        may, must = unanswered(evidence, job), 0
        for run in job.runs:
            death = evidence.gone.get(run.pid)
            if run.node.startswith(OUTSIDE) and run.word:
                may += 1  # no executor may have been there to take its result within the lock
                continue
            if death is None or run.end is not None and run.end < death - SECOND // 5:
                continue
            may += 1
            must += run.word is None and run.pid in evidence.kills and \
                not evidence.hindered(run.start - 5 * SECOND, death + 5 * SECOND) and \
                evidence.steady(run.start - 5 * SECOND, death + 5 * SECOND) and \
                not evidence.stopped(run.pid, run.start - 5 * SECOND, death) and \
                not evidence.stalled(run.start - 5 * SECOND, death) and \
                not evidence.disturbed(job.id, run.start, death + 5 * SECOND)
        deaths = unbegun(evidence, job) if counted > may else []
        if deaths and counted - may <= len(job.of("lock")) - len(job.runs):
            guessed[min(deaths, key=lambda death: guessed[death])] += counted - may
        elif counted > may:
            report.violated("job %d: %d crashes counted, it ran in %d processes that died" % (
                job.id, counted, may), job.id)
        if counted < must:
            report.violated("job %d: %d crashes counted, %d processes were killed under it" % (
                job.id, counted, must), job.id)
    for death, many in guessed.items():
        if many > WORKERS:
            report.violated("%d crashes counted of jobs that had not begun, by the death of %s" % (
                many, [pid for pid, t in evidence.kills.items() if t == death]))


def suspended(evidence, report):
    for job in evidence.jobs.values():
        still = False
        for row in job.rows:
            if row["what"] == "suspended":
                still = row["new"] != 0
            elif row["what"] == "lock":
                report.look()
                if still and not evidence.touched(job.id, "job execute"):
                    report.violated("job %d was locked while it was suspended" % job.id, job.id)


def incidents(evidence, report):
    opened = collections.defaultdict(list)
    for row in evidence.dump["incident"]:
        if row["job"] is not None and row["ended"] is None and row["type"] != STUCK:
            opened[row["job"]].append(row)
    for job in evidence.jobs.values():
        here, most, deaths, lives = 0, 0, 0, 0
        for row in job.rows:
            if row["note"] == STUCK:
                continue
            here += (row["what"] == "incident") - (row["what"] == "closed")
            most = max(most, here)
            deaths += row["what"] == "retries" and row["new"] == 0
            lives += row["what"] == "retries" and row["old"] == 0
        made = sum(row["note"] != STUCK for row in job.of("incident"))
        if job.id in evidence.dead or made:
            report.look()
        if most > 1:
            report.violated("job %d had %d open incidents" % (job.id, most), job.id)
        if made > deaths:
            report.violated("job %d died %d times and has %d incidents" % (
                job.id, deaths, made), job.id)
        closed = sum(row["note"] != STUCK for row in job.of("closed"))
        if lives > closed:
            report.violated("job %d got retries %d times, and %d incidents were closed" % (
                job.id, lives, closed), job.id)
        want = 1 if job.id in evidence.dead else 0
        if len(opened[job.id]) != want:
            report.violated("job %d is %s and has %d open incidents" % (
                job.id, "dead" if want else "not dead", len(opened[job.id])), job.id)


def unique(evidence, report):
    """Between the births of two jobs of one key lies the end, or the death, of the first."""
    holders = collections.defaultdict(list)
    for job in evidence.jobs.values():
        if job.unique:
            holders[job.handler, job.unique].append(job)
    for (_, key), jobs in holders.items():
        for one, other in zip(jobs, jobs[1:]):
            report.look()
            ends = [row["seq"] for row in one.rows if row["what"] == "ended"
                    or row["what"] == "retries" and row["new"] == 0]
            if not ends or ends[0] > other.seq:
                report.violated("job %d was created while job %d held the key %s" % (
                    other.id, one.id, key), other.id)
    for entry in evidence.by["P", "kept"]:
        held(evidence, report, entry)


def held(evidence, report, entry):
    """Whose key a creation was told of is still there, or was until a moment ago."""
    holder = evidence.jobs.get(entry.job)
    asked = evidence.intents[entry.note.split()[0]].t
    report.look()
    if not holder or SUCCESSFUL not in holder.outcomes():
        return
    ended = max(run.end for run in holder.runs if run.word == "ok")
    since = ended + 3 * SECOND * evidence.slow
    if asked > since and not any(a < since and ended < b for _, a, b in evidence.stops + evidence.full):
        report.violated("job %d still had its key %.1f s after it had ended" % (
            holder.id, (asked - ended) / SECOND), holder.id)


def withdrawn(evidence):
    """Jobs of files whose creation was broken off after a part of it was written: all of a file, or
    none. Nothing but their creation was ever seen of them."""
    files = collections.defaultdict(list)
    for job in evidence.jobs.values():
        answer = evidence.answers.get(job.marker)
        if answer and answer.event == "unknown" and job.marker.startswith("storm-"):
            files[job.marker.rpartition("-")[0]].append(job)
    return {job.id for jobs in files.values() for job in jobs
            if all(fate(evidence, one) == "is lost" and not one.rows for one in jobs)}


def conservation(evidence, report):
    gone = withdrawn(evidence)
    for job in evidence.jobs.values():
        report.look()
        wrong = None if job.id in gone else fate(evidence, job)
        if wrong:
            report.violated("job %d (%s) %s" % (job.id, job.handler, wrong), job.id)
        elif job.outcomes() and job.id in evidence.live:
            report.violated("job %d has ended and is still there" % job.id, job.id)
    born = set(evidence.jobs)
    for job in evidence.live - born:
        report.violated("job %s is there, and was never created" % job, job)


def children(evidence, report):
    for job in evidence.jobs.values():
        if job.handler != "parent":
            continue
        report.look()
        many = 1 if "." in job.marker else 2
        if SUCCESSFUL not in job.outcomes():
            many = 0
        for i in (1, 2):
            there = len(evidence.by_marker.get("%s.%d" % (job.marker, i), []))
            if there != (1 if i <= many else 0):
                report.violated("job %d (%s) ended %s, and child %d was created %d times" % (
                    job.id, job.marker, job.outcomes(), i, there), job.id)


def payload(evidence, report):
    for run in evidence.runs:
        intent = evidence.intents.get(run.marker)
        if not intent or not intent.hash:
            continue
        report.look()
        if run.hash != intent.hash:
            report.violated("job %d was given %s and got %s" % (
                run.job, intent.hash, run.hash), run.job)


def cycles(evidence, report):
    for marker, jobs in evidence.by_marker.items():
        if jobs[0].handler not in ("tick", "beat"):
            continue
        dues = [job.dues()[-1] for job in jobs]
        report.look(len(dues))
        if len(set(dues)) != len(dues):
            report.violated("%s: a date was met twice: %s" % (
                marker, sorted(d for d in dues if dues.count(d) > 1)), jobs[-1].id)
        if jobs[0].handler == "tick" and len(dues) != 5:
            report.violated("%s: %d dates of 5" % (marker, len(dues)), jobs[-1].id)
        if jobs[0].handler == "tick" and sorted(dues) != [min(dues) + 500 * i
                                                          for i in range(len(dues))]:
            report.violated("%s: the dates are %s" % (marker, sorted(dues)), jobs[-1].id)
