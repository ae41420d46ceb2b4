"""What is left in the end: in the store, in the batches, in the processes and their logs."""
import collections
import json
import re

from evidence import SECOND

COMPLETED = 4
TROUBLE = re.compile(r"AddressSanitizer|ThreadSanitizer|LeakSanitizer|UndefinedBehavior|runtime error:"
                     r"|[Aa]ssertion .*failed|stack smashing|double free|malloc\(\)|probe: cannot")
RSS_SLOPE = 200.0      # KiB a second
RSS_MOST = 200 << 10   # KiB
FILES_SLOPE = 0.5      # a second
FILES_MOST = 120
LOG_MOST = 64 << 20    # bytes of SQLite's log
START = 5              # seconds that a start may take on a busy machine
CONNECT = 2 * 5        # and until it gives up two servers that do not answer
RSS_CACHES = 48 << 10  # KiB of a process whose connections have full caches
WARM = 25.0            # seconds until most of what a process keeps is there
LONG = 20.0            # seconds that it lives at least after that before its slope counts


def batches(evidence, report):
    for row in evidence.batch_rows:
        report.look()
        total, made, opened, failed, _ = json.loads(row["note"])
        if not (0 <= opened <= made <= total and 0 <= failed <= opened):
            report.violated("batch %d: total %d, made %d, open %d, failed %d" % (
                row["job"], total, made, opened, failed))
    rows = {row["id"]: row for row in evidence.dump["batch"]}
    items = collections.defaultdict(set)
    for entry in evidence.by["H", "item"]:
        batch, item = entry.note.split()
        items[int(batch)].add(item)
    over = collections.Counter(int(entry.note) for entry in evidence.by["H", "batch"])
    for entry in evidence.by["P", "batch"]:
        row = rows.get(int(entry.note))
        if not row or row["state"] != COMPLETED:
            report.violated("batch %s did not end: %s" % (entry.note, row))
            continue
        missed = {"item-%d" % i for i in range(1, entry.attempt + 1)} ^ items[row["id"]]
        if missed:
            report.violated("batch %d: items %s" % (row["id"], sorted(missed)[:5]))
        if not over[row["id"]]:
            report.violated("batch %d: its end was told to nobody" % row["id"])
    told = sum(job.handler == "batch_over" for job in evidence.jobs.values())
    if told != sum(
            row["state"] == COMPLETED and row.get("type", "items") == "items" for row in rows.values()):
        report.violated("%d ends of batches were told" % told)


def sane(evidence, report):
    dump = evidence.dump
    report.look()
    if dump["integrity"] != ["ok"] or dump["foreign"]:
        report.violated("integrity_check: %s %s" % (dump["integrity"][:3], dump["foreign"][:3]))
    if dump["checked"]["status"] != 0:
        report.violated("check --store: " + dump["checked"]["text"].strip())
    for table in ("locked", "lock_page", "lane", "limited"):
        if dump.get(table):
            report.violated("%s: %s, and nobody is there" % (table, dump[table][:3]))
    for entry in evidence.by["N", "backup-done"]:
        report.look()
        if entry.note != "ok":
            report.violated("a backup: " + entry.note)


def liveness(evidence, report):
    drains = evidence.by["N", "drain"]
    after = [run for run in evidence.runs if drains and run.start > drains[0].t - SECOND]
    report.look(len(after) + len(evidence.by["N", "quiet"]))
    for entry in evidence.by["N", "stuck"]:
        left = sorted(evidence.live - evidence.dead)
        report.violated("not done: %s, such as %s" % (entry.note, left[:5]), left[0] if left else None)
    for table in ("ready", "timer", "parked"):
        for row in evidence.dump[table][:3]:
            report.violated("job %d is left in %s" % (row["id"], table), row["id"])


def slope(points):
    """By least squares, of the last four fifths: units a second."""
    points = points[len(points) // 5:]
    middle_t = sum(t for t, _ in points) / len(points)
    middle_v = sum(v for _, v in points) / len(points)
    down = sum((t - middle_t) ** 2 for t, _ in points)
    return sum((t - middle_t) * (v - middle_v) for t, v in points) / down if down else 0.0


def resources(evidence, report):
    samples = collections.defaultdict(list)
    for entry in evidence.by["N", "sample"]:
        samples[entry.node, entry.pid].append(entry)
    for (node, pid), entries in samples.items():
        report.look(len(entries))
        watch(evidence, report, "%s/%d" % (node, pid), entries)
    for name, text in evidence.logs.items():
        report.look()
        found = TROUBLE.search(text)
        if found:
            report.violated("%s says: %s" % (name, text[found.start():found.start() + 300]))
    for entry in evidence.by["N", "died"]:
        if not excused(evidence, entry):
            report.violated("%s/%d died by itself: %s" % (entry.node, entry.pid, entry.attempt))
    if evidence.broken > len(evidence.kills) + 10:
        report.violated("%d broken lines in the log" % evidence.broken)


def excused(evidence, died):
    """A start in a broken folder, on a full disk or while the server is away; a HUP before the
    program could mind it; or an operator drained it while it held a run that does not end. Who runs
    already has to live on."""
    if died.attempt == 0 and "event=drained " in evidence.logs.get("%s.log" % died.node, ""):
        return True
    away = evidence.server and died.attempt == 69
    begun = max((e.t for e in evidence.by["N", "started"] if e.pid == died.pid), default=died.t)
    limit = (START + (CONNECT if away else 0)) * SECOND * evidence.slow
    if died.node == "command" or died.t - begun > limit:
        return False
    return died.attempt in (78, -1) or away or died.attempt == 74 and any(
        a < died.t and begun < b for _, a, b in evidence.full)


def watch(evidence, report, who, entries):
    plain = evidence.slow == 1
    if plain and max(e.attempt for e in entries) > RSS_MOST:
        report.violated("%s took %d KiB" % (who, max(e.attempt for e in entries)))
    if max(e.token for e in entries) > FILES_MOST:
        report.violated("%s had %d files open" % (who, max(e.token for e in entries)))
    if max(e.priority for e in entries) > LOG_MOST:
        report.violated("the log of the store grew to %d bytes" % max(e.priority for e in entries))
    if any(a.retries and b.retries and c.retries
           for a, b, c in zip(entries, entries[1:], entries[2:])):
        report.violated("%s has children that nobody waits for" % who)
    entries = [e for e in entries if e.t - entries[0].t >= WARM * SECOND]
    if not entries or entries[-1].t - entries[0].t < LONG * SECOND:
        return
    for what, values, most, least in (("KiB", [e.attempt for e in entries], RSS_SLOPE, RSS_CACHES),
                                      ("files", [e.token for e in entries], FILES_SLOPE, 0)):
        grows = slope([(e.t / SECOND, value) for e, value in zip(entries, values)])
        if plain and grows > most and values[-1] > least:
            report.violated("%s grows by %.1f %s a second" % (who, grows, what))
