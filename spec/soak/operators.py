"""An operator with a random hand: verbs of the command line, each with a line before and after.

A line names the job, or in its note the handler, that is touched: what is known of it otherwise
does not count from then on.
"""
import threading

import drafts

LONGEST = 120  # seconds of a command, also while the server is away
HANDLERS = ("chore", "slow", "flaky", "doomed", "lane")  # jobs of others are left alone


class Operator(threading.Thread):
    def __init__(self, world, rng, done):
        super().__init__(daemon=True)
        self.world = world
        self.rng = rng
        self.done = done
        self.later = []  # verbs that take an earlier one back

    def run(self):
        while not self.done.wait(self.rng.random() * self.world.slow):
            if self.later and self.rng.random() < .5:
                self.do(*self.later.pop(0))
            else:
                self.rng.choice(VERBS)(self)

    def do(self, words, job=None, handler=None):
        note = "%s %s" % (handler or "-", " ".join(str(word) for word in words))
        self.world.lines.write("P", "verb", job=job, note=note)
        done = self.world.run(*map(str, words), timeout=LONGEST * self.world.slow)
        self.world.heard(done, done.stderr)
        self.world.lines.write("P", "verb-done" if done.returncode == 0 else "verb-refused", job=job,
                               attempt=done.returncode, note=note)
        return done

    def job(self, sql):
        """One of the jobs that the store answers with, of the handlers that may be touched."""
        names = ",".join("'%s'" % name for name in HANDLERS)
        rows = self.world.ask(sql + " JOIN stream s ON s.id=j.stream JOIN definition d"
                              " ON d.id=s.definition WHERE d.name IN (%s) LIMIT 50" % names)
        return self.rng.choice(rows)[0] if rows else None

    def waiting(self):
        return self.job("SELECT j.id FROM (SELECT id, stream FROM ready UNION ALL"
                        " SELECT id, stream FROM timer) j")

    def running(self):
        return self.job("SELECT j.id FROM locks j")

    def dead(self):
        rows = self.world.ask("SELECT id FROM job WHERE retries=0 ORDER BY random() LIMIT 1")
        return rows[0][0] if rows else None

    def touch(self, job, *words):
        if job is not None:
            self.do(words, job=job)

    # ---- the verbs

    def suspend(self):
        job = self.rng.choice([self.waiting, self.running])()
        self.touch(job, "job", "suspend", job)
        if job is not None:
            self.later.append((("job", "activate", job), job))

    def delete(self):
        job = self.waiting()
        self.touch(job, "job", "delete", job)

    def cancel(self):
        job = self.rng.choice([self.waiting, self.running])()
        self.touch(job, "job", "cancel", job)

    def priority(self):
        job = self.waiting()
        self.touch(job, "job", "priority", self.rng.randrange(100), job)

    def due(self):
        job = self.waiting()
        at = self.rng.choice(["none", drafts.instant(self.world.now() + 700)])
        self.touch(job, "job", "due", at, job)

    def give_up(self):
        job = self.waiting()
        self.touch(job, "job", "dead", job)

    def retry(self):
        job = self.dead()
        self.touch(job, "job", "retry", job, "--retries", self.rng.randint(1, 2))

    def execute(self):
        job = self.waiting()
        self.touch(job, "job", "execute", job, "-C", self.world.folder)

    def definition(self):
        name = self.rng.choice(HANDLERS)
        self.do(("definition", "suspend", name, "--include-jobs"), handler=name)
        self.later.append((("definition", "activate", name, "--include-jobs"), None, name))

    def override(self):
        name = self.rng.choice(HANDLERS)
        self.do(("definition", "priority", name, self.rng.randrange(100), "--cascade"), handler=name)
        self.later.append((("definition", "priority", name, "--clear"), None, name))

    def retries(self):
        self.do(("definition", "retries", "doomed", 1), handler="doomed")

    def schedule(self):
        self.do(("schedule", "pause", "beat"))
        self.later.append((("schedule", "resume", "beat"),))

    def drain(self):
        name = self.rng.choice(["north", "south"])
        self.do(("executor", "drain", name))
        self.later.append((("executor", "resume", name),))

    def look(self):
        job = self.waiting()
        self.do(self.rng.choice([("stats",), ("definition", "list"), ("incident", "list"),
                                 ("job", "list", "--json"), ("executor", "list")]))
        if job is not None:
            self.do(("job", "why", job))

    # ---- at the end nothing is held back

    def mend(self):
        while self.later:
            self.do(*self.later.pop(0))
        for name in HANDLERS:
            self.do(("definition", "activate", name, "--include-jobs"), handler=name)
        self.do(("job", "activate", "--suspended"))
        for row in self.world.ask("SELECT id FROM deployment") or []:
            self.do(("deployment", "register", row[0], "--name", "south"))
        for name in ("north", "south"):
            self.do(("executor", "resume", name))


VERBS = [Operator.suspend, Operator.suspend, Operator.delete, Operator.cancel, Operator.priority,
         Operator.due, Operator.give_up, Operator.retry, Operator.retry, Operator.execute,
         Operator.definition, Operator.override, Operator.retries, Operator.schedule,
         Operator.drain, Operator.look]
