"""The network face under test: who creates over it, and workers outside.

Each executor answers on a socket of its own and may be gone at any moment. Who creates asks again
with the same key, at whichever executor, until there is an answer; and once more thereafter. Workers
die with locks in their hands, stand still beyond them, and complete late.
"""
import http.client
import json
import os
import socket
import threading
import time

import line
from producers import Producer

LOCK = 2.0      # seconds that a worker has a job
WAIT = 1.0      # seconds until a fetch is answered without a job
FRESH = 1.2     # more after which what was fetched is begun no more: its lock may be over
AT_ONCE = 2     # jobs of one fetch
OUTSIDE = "outside"
LIVES = 1 << 24  # numbers of processes above those that there are: each life of a worker is one
TIMEOUT = 10.0


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Faces:
    """The sockets of the executors; whoever is asked may not be there."""

    def __init__(self, world, names, rng):
        self.world = world
        self.paths = [world.face(name) for name in names]
        self.rng = rng

    def ask(self, what, body, key=None, leave=False):
        """The status and the answer; None where nobody has answered. `leave`: goes away before."""
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        connection = Connection(self.rng.choice(self.paths), TIMEOUT * self.world.slow)
        try:
            connection.request("POST", what, json.dumps(body).encode(), headers)
            if leave:
                return None
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()


class Keyed(Producer):
    """One job or a list of them under an Idempotency-Key."""

    def __init__(self, world, rng, name, done, names):
        super().__init__(world, rng, name, done)
        self.faces = Faces(world, names, rng)
        self.repeated = False

    def create(self):
        made = self.intend(self.rng.choice([1, 1, 1, 5, 20]))
        body = [json.loads(draft.json()) for draft in made]
        body = body if len(body) > 1 else body[0]
        key = made[0].marker
        answer = self.insist(body, key)
        ids = self.read(answer, len(made))
        for index, draft in enumerate(made):
            if ids:
                held = ids[index][1] == "ack" and draft.handler == "single" and len(made) > 1
                self.note("held" if held else ids[index][1], draft, ids[index][0])
            else:
                self.note("nack" if answer else "unknown", draft)
        if ids and (not self.repeated or self.rng.random() < .3):
            self.repeated = True
            self.again(body, key, ids, made[0])

    def insist(self, body, key):
        """Asks until somebody has said yes or no."""
        end = time.monotonic() + 60 * self.world.slow
        leave = self.rng.random() < .2
        while time.monotonic() < end:
            answer = self.faces.ask("/v1/jobs", body, key, leave)
            leave = False
            if answer and answer[0] < 500 and answer[0] != 429:
                return answer
            time.sleep(self.rng.random() * 0.3)
        self.world.lines.write("N", "overdue", node="command", note="creation over HTTP")
        return None

    def again(self, body, key, ids, first):
        """The same key has the same answer, for as long as it is kept."""
        same = self.read(self.insist(body, key), len(ids))
        event = "same" if same and [one for one, _ in same] == [one for one, _ in ids] else "other"
        self.world.lines.write("P", event, job=ids[0][0], note="%s %s" % (first.marker, same))

    @staticmethod
    def read(answer, count):
        if not answer or answer[0] not in (200, 201):
            return []
        items = answer[1].get("items", [answer[1]])
        kept = "kept" if count == 1 else "ack"
        return [(item["id"], "ack" if item["outcome"] in ("created", "replaced") else kept)
                for item in items]


class Worker(threading.Thread):
    """A worker outside. Each of its lives is a process to the log, with a number of its own."""

    lives = LIVES
    counting = threading.Lock()

    def __init__(self, world, rng, number, done, names):
        super().__init__(name="%s-%d" % (OUTSIDE, number), daemon=True)
        self.world = world
        self.rng = rng
        self.done = done
        self.faces = Faces(world, names, rng)
        self.pid = None
        self.begin()

    def begin(self):
        with Worker.counting:
            Worker.lives += 1
            self.pid = Worker.lives

    def write(self, source, event, **fields):
        self.world.lines.write(source, event, pid=self.pid, node=self.name, **fields)

    def die(self):
        """What it has stays locked until the lock ends."""
        self.write("N", "kill")
        self.begin()

    def run(self):
        while not self.done.is_set():
            asked = time.monotonic()
            answer = self.faces.ask("/v1/fetch", {
                "worker": self.name, "topics": ["outer"], "max": AT_ONCE, "lock": "PT%dS" % LOCK,
                "wait": "PT%dS" % WAIT})
            if answer and answer[0] == 200:
                self.work(answer[1]["jobs"], asked)
            else:
                self.die()  # who asked may have been given jobs
                self.done.wait(self.rng.random() * 0.3)

    def work(self, jobs, asked):
        """All at once. What has come late is given back: its locks may be over before it begins."""
        fate = self.rng.random()
        if time.monotonic() - asked > WAIT + FRESH:
            self.settle([self.outcome(job, {"outcome": "release"}) for job in jobs])
            return
        for job in jobs:
            self.note("start", job)
        if jobs and fate < .04:
            self.die()
            return
        time.sleep(max([job["payload"].get("ms", 0) for job in jobs], default=0) / 1000)
        if jobs and fate < .08:
            self.stand_still()
        self.settle([self.end(job) for job in jobs])

    def end(self, job):
        fails = job["attempt"] <= job["payload"].get("fails", 0)
        self.note("fail" if fails else "ok", job)
        return self.outcome(job, {"outcome": "fail", "message": "as it was told"} if fails else
                            {"outcome": "complete", "result": {"by": self.name}})

    @staticmethod
    def outcome(job, what):
        return dict(what, id=job["id"], token=job["token"])

    def stand_still(self):
        """Beyond its lock. Who takes over counts a death, if somebody does."""
        self.write("N", "stop")
        time.sleep(LOCK + self.rng.uniform(0.2, 1.5))
        self.write("N", "cont")
        self.write("N", "kill")

    def note(self, event, job):
        body = job["payload"].get("body")
        self.write("H", event, job=job["id"], attempt=job["attempt"], token=job["token"],
                   priority=job["priority"], lane=job["lane"], due=job["due"], retries=job["retries"],
                   hash=None if body is None else line.hash_of(body),
                   note="%s %s" % (job["payload"].get("m", "-"), job["handler"]))

    def settle(self, outcomes):
        """Until somebody says what became of them: who asks twice is told that they are settled."""
        answer, end = None, time.monotonic() + 60 * self.world.slow
        while outcomes and not answer and time.monotonic() < end:
            answer = self.faces.ask("/v1/settle", {"worker": self.name, "outcomes": outcomes})
            answer = answer if answer and answer[0] == 200 else None
            if not answer:
                time.sleep(self.rng.random() * 0.2)
        self.begin()
