"""Who creates jobs: one by one and in bulk on the command line, and a Lua program with the module.

Before each creation there is an intent in the log, after it an ack (with the job's id), a kept (another
job has the key), held (one of the two), a nack, or unknown where whoever asked was killed or could not tell.
"""
import json
import os
import signal
import subprocess
import threading
import time

import drafts
import world as here

TOO_MANY = 2500  # jobs that wait: the producers rest
UNSURE = (69, 74)  # no server, or a full disk: the job may have been written all the same


class Producer(threading.Thread):
    def __init__(self, world, rng, name, done):
        super().__init__(name=name, daemon=True)
        self.world = world
        self.rng = rng
        self.done = done
        self.drafts = drafts.Drafts(world, rng, name)
        self.pause = 0.2

    def run(self):
        while not self.done.wait(self.rng.random() * 2 * self.pause * self.world.slow):
            waiting = self.world.ask("SELECT count(*) FROM ready")
            if not waiting or waiting[0][0] < TOO_MANY:
                self.create()

    def note(self, event, draft, job=None):
        fields = draft.fields()
        if event != "intent":
            fields = {"note": fields["note"]}
        self.world.lines.write("P", event, job=job, **fields)

    def announce(self, draft):
        self.note("intent", draft)
        return draft

    def intend(self, count, draw=None):
        return [self.announce((draw or self.drafts.any)()) for _ in range(count)]

    def answer(self, made, process, killed, ids):
        """What the program's end says about what it was asked for."""
        unsure = process.returncode in UNSURE
        for index, draft in enumerate(made):
            if index < len(ids):
                job, event = ids[index]
                held = event == "ack" and draft.handler == "single" and len(made) > 1
                self.note("held" if held else event, draft, job)
            else:
                self.note("unknown" if killed or unsure else "nack", draft)

    def end(self, process):
        """Waits for a command; what it has said."""
        try:
            text, errors = process.communicate(timeout=60 * self.world.slow)
        except subprocess.TimeoutExpired:
            self.world.lines.write("N", "overdue", node="command", pid=process.pid)
            process.kill()
            text, errors = process.communicate()
        self.world.heard(process, errors)
        return text, errors


class Single(Producer):
    """One job with each command; now and then killed, the moment it has said yes or before."""

    def create(self):
        self.send(self.intend(1))

    def twice(self):
        """Two of one unique key, so that it is asked for while the first has it, or thereafter."""
        for _ in range(2):
            self.send(self.intend(1, lambda: self.drafts.make("single", {"ms": 150, "key": "key-0"})))

    def send(self, made):
        process = self.world.start("enqueue", "-C", self.world.folder, *made[0].flags(), "--json",
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        fate = self.rng.random()
        killed = fate < .3
        if fate < .1:
            time.sleep(self.rng.random() * 0.03)
            process.kill()
            text = self.end(process)[0]
        elif killed:
            text = process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            text += self.end(process)[0]
        else:
            text = self.end(process)[0]
        self.answer(made, process, killed, self.read(text))

    @staticmethod
    def read(text):
        try:
            said = json.loads(text)
            if said.get("outcome", "created") in ("created", "replaced"):
                return [(said["id"], "ack")]
            return [(said["id"], "kept")]
        except (ValueError, KeyError):
            return []


class Bulk(Producer):
    """Many in one command, in one file; sometimes all of a kind of which only so many may run, or so
    quick that an executor takes hundreds, or a storm of equal jobs that differ in priority."""

    def create(self):
        if self.rng.random() < .15:
            kind = self.rng.choice(["capped", "rated"])
            made = self.intend(20, lambda: self.drafts.one(kind))
        elif self.rng.random() < .1:
            made = self.intend(300, self.quick)
        else:
            made = self.intend(self.rng.choice([5, 20, 60]))
        self.send(made, self.rng.random() < .15)

    def one_of_each(self):
        """Every kind there is, so that none is never met; and dates before anything goes wrong."""
        self.send([self.announce(self.drafts.one(kind)) for kind in drafts.KINDS]
                  + self.intend(20, lambda: self.drafts.one("alarm")), False)

    def storm(self, count):
        self.send(self.intend(count, self.plain), False)

    def quick(self):
        lane = {"lane": "lane-%d" % self.rng.randrange(60)} if self.rng.random() < .5 else {}
        return self.drafts.make("chore", {"ms": self.rng.randrange(2)}, **lane)

    def plain(self):
        return self.drafts.make("plain", {"ms": 8})

    def send(self, made, kill):
        path = os.path.join(self.world.root, self.name + ".jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(draft.json() + "\n" for draft in made)
        process = self.world.start("enqueue", "-C", self.world.folder, "--from", path, "--json",
                                   "--ids", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if kill:
            time.sleep(self.rng.random() * 0.05)
            process.kill()
        text = self.end(process)[0]
        self.answer(made, process, kill, self.read(text))

    @staticmethod
    def read(text):
        try:
            said = json.loads(text)
        except ValueError:
            return []
        return [(job, "ack") for job in said["ids"]]


class Bait(Bulk):
    """Work that keeps every worker busy, and the queues full, at the moment of a fault."""

    def __init__(self, *given):
        super().__init__(*given)
        self.laying = threading.Lock()  # two faults at once

    def lay(self, count, ms):
        def slow():
            return self.drafts.make("slow", {"ms": self.rng.randint(ms // 2, ms)},
                                    priority=self.rng.randint(20, 60))
        with self.laying:
            self.send(self.intend(count, slow), False)
        time.sleep(self.rng.uniform(0.02, 0.2))


class Module(Producer):
    """A Lua program that carries the module and creates one by one, or a list, all or nothing; and
    now and then dies by its own hand with the last yes still in its ears."""

    def create(self):
        made = [self.drafts.any() for _ in range(self.rng.choice([1, 5, 20, 40]))]
        path = os.path.join(self.world.root, "module.lua")
        with open(path, "w", encoding="ascii") as file:
            file.write("return {%s}\n" % ",\n".join(draft.lua() for draft in made))
        mode = self.rng.choice(["one", "one+die", "many", "many+die"])
        process = subprocess.Popen(
            [self.world.interpreter(), os.path.join(here.HERE, "producer.lua"), mode, path,
             self.world.folder, self.world.store.url()],
            env=self.world.environment("module"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _, errors = self.end(process)
        if process.returncode not in (0, -signal.SIGKILL):
            self.world.lines.write("P", "module-failed", attempt=process.returncode,
                                   note=errors.decode("ascii", "replace").strip()[-90:])


class Batches(Producer):
    """Batches of a type of the folder; each of their ids has to be seen."""

    def create(self):
        count = self.rng.randint(3, 60)
        process = self.world.start(
            "batch", "create", "items", "-C", self.world.folder, "--ids",
            ",".join("item-%d" % i for i in range(1, count + 1)), "--on-complete", "batch_over",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = self.end(process)[0].decode().strip()
        self.world.lines.write("P", "batch" if text.isdigit() else "batch-failed", note=text or "-",
                               attempt=count)
