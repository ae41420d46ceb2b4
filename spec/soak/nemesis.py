"""What goes wrong, and when: drawn by the seed, each fault with lines at its beginning and its end.

A shuffled deck of all the kinds first, so that each of them happens; then as it comes. Two at once
with a probability of 0.3, and again and again a while without any.
"""
import os
import shutil
import signal
import sqlite3
import threading
import time

import world as here
from executors import AHEAD

BALLAST = 1 << 20
CALM = 9  # seconds without faults, after every DECK of them
DECK = 12
LOCK = 2.0  # seconds: lock_time in folder/moonshift.lua


class Nemesis(threading.Thread):
    def __init__(self, world, executors, rng, done, bait):
        super().__init__(daemon=True)
        self.bait = bait  # who puts work before an executor that is about to be struck
        self.world = world
        self.executors = executors
        self.rng = rng
        self.done = done
        self.busy = {}  # faults of which there is only one at a time
        self.servers = threading.Lock()  # nor of those that end a server
        self.calm = threading.Event()
        self.pace = 1
        self.first = []  # kinds of faults that come before the first deck, in this order

    def run(self):
        deck = [kind for kind in reversed(self.first) if kind in self.kinds()]
        while not self.done.wait(self.rng.uniform(0.1, 2) * self.pace):
            if not deck:
                deck = self.deck()
            first, *rest = deck.pop(), *([deck.pop()] if deck and self.rng.random() < .3 else [])
            others = [threading.Thread(target=self.do, args=(fault, self.rng.random()))
                      for fault in rest]
            for other in others:
                other.start()
            self.do(first, 0)
            for other in others:
                other.join()
            if not deck and not self.done.is_set():
                self.rest()

    def kinds(self):
        store = self.world.store
        fit = {"any", store.kind, "standby" if len(getattr(store, "hosts", [])) > 1 else None}
        return [kind for kind in FAULTS if kind not in self.world.missing and FAULTS[kind][2] in fit]

    def deck(self):
        kinds = self.kinds()
        deck = kinds + ["freeze", "term"]
        deck += self.rng.choices(kinds, [FAULTS[kind][0] for kind in kinds], k=DECK - len(deck))
        self.rng.shuffle(deck)
        return deck

    def rest(self):
        self.note("calm")
        self.calm.set()
        self.done.wait(CALM)
        self.calm.clear()

    def note(self, event, **fields):
        self.world.lines.write("N", event, node="nemesis", **fields)

    def do(self, kind, delay):
        if self.done.wait(delay) or not self.busy.setdefault(kind, threading.Lock()).acquire(
                blocking=False):
            return
        try:
            self.note("fault", note=kind)
            FAULTS[kind][1](self)
        finally:
            self.busy[kind].release()

    def executor(self):
        return self.rng.choice(self.executors)

    # ---- faults

    def kill(self):
        """One of them or both, once or again as soon as they are back."""
        for _ in range(self.rng.choice([1, 1, 2, 4])):
            victims = self.executors if self.rng.random() < .2 else [self.executor()]
            for victim in victims:
                victim.kill()
            time.sleep(self.rng.choice([0, 0, 0.2, 1]))
            for victim in victims:
                victim.start()
            time.sleep(self.rng.choice([0.05, 0.3, 1]))

    def term(self):
        victim = self.executor()
        self.bait.lay(30, 60)
        victim.terminate(30 * self.world.slow)
        victim.start()

    def stop(self):
        self.executor().pause(self.rng.choice([0.5, 1, 1.7]))

    def freeze(self):
        """So long that others take over what it has locked."""
        self.bait.lay(24, 250)  # more than one executor takes at once
        self.executor().pause(LOCK + self.rng.choice([0.7, 1, 1.5, 2]))

    def jump(self):
        step = self.rng.choice([5, 60, 3600, 86400]) * 1000 * self.rng.choice([-1, 1])
        back = self.world.offset
        for offset in (back + step, back if self.rng.random() < .7 else None):
            if offset is not None:
                self.note("jumping", due=str(offset))
                self.world.set_clock(offset)
                self.note("clock", due=str(offset))
                self.done.wait(self.rng.uniform(0.5, 4))

    def full(self):
        """Fills the store's disk to the last byte, for a while."""
        self.note("filling")
        path = os.path.join(self.world.disk, "ballast")
        with open(path, "wb", buffering=0) as file:
            size = BALLAST
            while size:
                try:
                    if file.write(b"x" * size) < size:
                        size //= 2
                except OSError:
                    size //= 2
        self.note("full")
        time.sleep(self.rng.uniform(0.3, 3))
        os.unlink(path)
        self.note("emptied")

    def hup(self):
        """Another folder, or a broken one, or both again and again while it is loaded."""
        self.note("hup")
        for broken in self.rng.choice([[False], [True, False], [True, False] * 5]):
            self.change(broken)
            for executor in self.executors:
                executor.signal(signal.SIGHUP, "hupped")
            time.sleep(self.rng.uniform(0.02, 0.4))
        self.note("hup-done")

    def change(self, broken):
        """A whole new tree of handlers takes the place of the old one; or a file in it is broken."""
        handlers = os.path.join(self.world.folder, "handlers")
        fresh = os.path.join(self.world.root, "handlers.new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(os.path.join(here.HERE, "folder", "handlers"), fresh)
        with open(os.path.join(fresh, "chore.lua"), "a", encoding="ascii") as file:
            file.write("-- version %d\n" % self.rng.randrange(1 << 30))
        if broken:
            with open(os.path.join(fresh, "plain.lua"), "w", encoding="ascii") as file:
                file.write("return function( -- broken\n")
        os.rename(handlers, handlers + ".old")
        os.rename(fresh, handlers)
        shutil.rmtree(handlers + ".old")

    def backup(self):
        """A copy made while all goes on is a whole store."""
        path = os.path.join(self.world.root, "backup.db")
        self.note("backup")
        try:
            source = sqlite3.connect("file:%s?mode=ro" % self.world.store.path, uri=True, timeout=5)
            copy = sqlite3.connect(path)
            source.backup(copy)
            source.close()
            fine = copy.execute("PRAGMA integrity_check").fetchone()[0]
            copy.close()
        except sqlite3.Error as error:
            self.note("backup-failed", note=str(error))
        else:
            self.note("backup-done", note=fine)
        if os.path.exists(path):
            os.unlink(path)

    # ---- of a server, and of the way to it

    def backend(self):
        """One process of the server is killed: then all of them start anew. Or it is told to end."""
        pids = self.world.store.backends()
        if not pids:
            return
        if self.rng.random() < .5:
            self.end_one()
            return
        self.without_server(lambda: self.kill_one(self.rng.choice(pids)))

    def end_one(self):
        """A connection ends, of one that waits for the standby if there is any."""
        self.note("broken")
        self.world.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE backend_type='client backend' AND application_name<>'psql'"
                       " ORDER BY wait_event='SyncRep' DESC NULLS LAST, random() LIMIT 1")

    @staticmethod
    def kill_one(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended meanwhile
        time.sleep(0.1)

    def crash(self):
        """The server ends without a word, as by a crash, and starts again."""
        self.without_server(self.world.store.restart)

    def postmaster(self):
        """The first process of the server is killed; the others lose it, and end."""
        def restart():
            self.world.store.kill(self.world.store.hosts[0])
            time.sleep(self.rng.choice([0, 0, 0.5, 3]))
            self.world.store.restart()
        self.without_server(restart)

    def promote(self):
        """The primary is killed, its standby promoted; what was the primary becomes the standby."""
        def promote():
            before = self.rng.choice([lambda: None, self.world.store.restart, self.end_one])
            before()  # what is on the primary alone now may not count
            time.sleep(self.rng.choice([0, 0, 0.05, 0.3]))
            self.world.store.promote()
            self.note("promoted")
        self.without_server(promote, self.world.store.rebuild)

    def standby(self):
        """Without the standby no commit ends."""
        self.without_server(
            lambda: self.world.store.restart_standby(self.rng.choice([0, 0.5, LOCK * 2])))

    def without_server(self, what, then=lambda: None):
        with self.servers:
            self.note("outage")
            what()
            self.world.store.await_answer()
            self.note("back")
            then()

    def partition(self):
        """An executor hears nothing and is not heard; what it had said may arrive late."""
        victim = self.executor()
        proxy = self.world.store.proxies[victim.name]
        self.bait.lay(24, 250)
        victim.note("stop", note="partition")
        proxy.say("hold")
        time.sleep(LOCK * self.rng.choice([.3, 1.3, 2.5, 4]))
        if self.rng.random() < .5:
            proxy.say("cut")
        proxy.say("pass")
        victim.note("cont")

    def breaks(self):
        """Messages are lost or halved, and with them their connections."""
        for _ in range(self.rng.choice([1, 5, 20])):
            victim = self.executor()
            victim.note("broken")
            proxy = self.world.store.proxies[victim.name]
            if self.rng.random() < .2:
                proxy.say("cut")
            else:
                proxy.say(self.rng.choice(["swallow", "halve"]),
                          self.rng.choice(["answer", "request"]))
            time.sleep(self.rng.choice([0.02, 0.2, 0.7]))

    def delays(self):
        victim = self.executor()
        victim.note("delayed")
        self.world.store.proxies[victim.name].say("delay", self.rng.choice([1, 20, 200]))
        time.sleep(self.rng.uniform(1, 3))
        self.world.store.proxies[victim.name].say("pass")
        victim.note("prompt")

    def step(self):
        """The clock of one executor is set."""
        victim = self.executor()
        victim.note("stepped")
        self.world.set_clock_of(victim.name, self.rng.randint(-AHEAD, AHEAD))

    # ---- at the end all is well again

    def mend(self):
        self.change(False)
        os.unlink(os.path.join(self.world.folder, "schedules", "beat.lua"))
        if self.world.offset < self.world.farthest:
            self.note("jumping", due=str(self.world.farthest))
            self.world.set_clock(self.world.farthest)
            self.note("clock", due=str(self.world.farthest))
        for executor in self.executors:
            if not executor.alive():
                executor.start()
            executor.signal(signal.SIGHUP, "hupped")


# How often, what is done, and for which stores.
FAULTS = {"kill": (5, Nemesis.kill, "any"), "term": (3, Nemesis.term, "any"),
          "stop": (2, Nemesis.stop, "any"), "freeze": (3, Nemesis.freeze, "any"),
          "clock": (2, Nemesis.jump, "file"), "full": (1, Nemesis.full, "file"),
          "hup": (2, Nemesis.hup, "any"), "backup": (1, Nemesis.backup, "file"),
          "backend": (2, Nemesis.backend, "server"), "crash": (1, Nemesis.crash, "server"),
          "postmaster": (1, Nemesis.postmaster, "server"),
          "promote": (2, Nemesis.promote, "standby"), "standby": (1, Nemesis.standby, "standby"),
          "partition": (3, Nemesis.partition, "server"), "break": (4, Nemesis.breaks, "server"),
          "delay": (2, Nemesis.delays, "server"), "step": (1, Nemesis.step, "server")}
