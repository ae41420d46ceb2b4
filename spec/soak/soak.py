#!/usr/bin/env python3
"""Lets jobs run for a while, while everything goes wrong that can be made to; then checks the records.

    soak.py --program build/moonshift --probe build/soak/probe.so --root build/soak/run \\
            --seconds 180 --seed 7

Exit status: 0 nothing violated, 1 something was, 2 the soak itself could not be done.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time

import executors
import faces
import nemesis
import operators
import producers
import sampler
import world as here

STANDBY = 60  # seconds from which on it is worth while to have one
QUIET = 40  # seconds until less is left, once nothing goes wrong any more


class Soak:
    def __init__(self, options):
        self.options = options
        self.world = here.World(options.root, options.program, options.probe,
                                kind="server" if options.server else "file",
                                standby=options.seconds >= STANDBY)
        self.rng = random.Random(options.seed)
        self.done = threading.Event()       # no more faults, no more verbs
        self.enough = threading.Event()     # no more jobs
        self.executors = []
        self.broken = threading.Event()     # a part of the soak itself has died
        threading.excepthook = self.broke

    def broke(self, failed):
        """What the part did goes on no more, or was left half done: nothing can be said then."""
        sys.__excepthook__(failed.exc_type, failed.exc_value, failed.exc_traceback)
        self.note("died", node="soak", note=str(failed.exc_value)[:200])
        self.broken.set()

    def own(self):
        return random.Random(self.rng.getrandbits(64))

    def note(self, event, **fields):
        self.world.lines.write("N", event, **fields)

    def go_on(self, end):
        return time.monotonic() < end and not self.broken.is_set()

    def run(self):
        self.world.make()
        self.note("begun", note="seed %d seconds %d slow %d store %s" % (
            self.options.seed, self.options.seconds, self.world.slow, self.world.store.kind))
        for fault, why in self.world.missing.items():
            print("without the fault \"%s\": %s" % (fault, why), flush=True)
            self.note("missing", note="%s: %s" % (fault, why))
        self.executors += [executors.Executor(self.world, name) for name in self.names()]
        for executor in self.executors:
            executor.start()
        watch = executors.Watch(self.executors)
        watch.start()
        self.load()
        watch.done.set()
        watch.join()
        for executor in self.executors:
            executor.terminate(30 * self.world.slow)
        self.note("end")
        self.world.dump()
        self.world.leave()

    def names(self):
        """Of all executors; a clock of its own for each, where they may differ."""
        names = list(executors.NAMES)
        if self.world.store.kind == "server":
            names += [name for name in (*executors.CENTRAL, *executors.POOLED)
                      if name in self.world.store.proxies]
            for name in names:
                self.world.set_clock_of(name, self.rng.randint(-executors.AHEAD, executors.AHEAD))
        return names

    def names_of_faces(self):
        return [executor.name for executor in self.executors]

    def load(self):
        """A calm beginning, with a storm of jobs; then all together, until the time is over."""
        end = time.monotonic() + self.options.seconds
        bulk = producers.Bulk(self.world, self.own(), "bulk", self.enough)
        makers = [bulk, producers.Single(self.world, self.own(), "single", self.enough),
                  producers.Module(self.world, self.own(), "module", self.enough),
                  producers.Batches(self.world, self.own(), "batch", self.enough),
                  faces.Keyed(self.world, self.own(), "keyed", self.enough, self.names_of_faces())]
        bulk.pause, makers[2].pause, makers[3].pause = 1.0, 0.7, 4.0
        over = threading.Event()
        workers = [faces.Worker(self.world, self.own(), number, over, self.names_of_faces())
                   for number in (1, 2, 3)]
        watcher = sampler.Sampler(self.world, self.executors, self.enough)
        operator = operators.Operator(self.world, self.own(), self.done)
        bait = producers.Bait(self.world, self.own(), "bait", self.enough)
        nature = nemesis.Nemesis(self.world, self.executors, self.own(), self.done, bait)
        nature.pace = min(1, self.options.seconds / 60)
        nature.first = self.options.first.split(",") if self.options.first else []
        watcher.start()
        makers[3].create()
        bulk.one_of_each()
        makers[1].twice()
        bulk.storm(1200 // self.world.slow)
        for other in makers + workers:
            other.start()
        time.sleep(min(nemesis.CALM, self.options.seconds / 4))
        operator.start()
        nature.start()
        while self.go_on(end):
            if nature.calm.wait(1) and not self.done.is_set():
                producers.Bulk(self.world, self.own(), "storm-%d" % time.monotonic_ns(),
                               self.enough).storm(1200 // self.world.slow)
                time.sleep(nemesis.CALM)
        self.done.set()
        nature.join()
        self.enough.set()
        for maker in makers:
            maker.join()
        nature.mend()
        operator.join()
        operator.mend()
        self.drain()
        over.set()
        for worker in workers:
            worker.join()
        watcher.join()

    def drain(self):
        """Waits as long as less and less is left, however slow the machine is."""
        self.note("drain")
        end, least = time.monotonic() + QUIET * self.world.slow, None
        while self.go_on(end):
            left = self.world.ask(
                "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM timer),"
                " (SELECT count(*) FROM parked), (SELECT count(*) FROM locks)")
            if left and sum(left[0]) == 0:
                self.note("quiet")
                return
            if left and (least is None or sum(left[0]) < least):
                end, least = time.monotonic() + QUIET * self.world.slow, sum(left[0])
            time.sleep(0.2)
        self.note("stuck", note="%d ready, %d timers, %d parked, %d locked" % left[0] if left else
                  "the store cannot be read")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/moonshift")
    parser.add_argument("--probe", default="build/soak/probe.so")
    parser.add_argument("--root", default="build/soak/run")
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--server", action="store_true",
                        help="over a PostgreSQL server instead of a file")
    parser.add_argument("--first", metavar="FAULT,…", help="faults that begin: %s" % ", ".join(
        nemesis.FAULTS))
    options = parser.parse_args()
    unknown = set((options.first or "kill").split(",")) - set(nemesis.FAULTS)
    if unknown:
        parser.error("unknown faults: %s" % ", ".join(sorted(unknown)))
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    if options.server and not here.stores.installed():
        print("  pending no initdb in /usr/lib/postgresql: nothing was soaked over PostgreSQL")
        sys.exit(0)
    print("soak: %d s, SEED=%d" % (options.seconds, options.seed), flush=True)
    soak = Soak(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # nothing is left running
    try:
        soak.run()
    finally:
        for executor in soak.executors:
            if executor.alive():
                executor.process.kill()
        soak.world.store.end()
    if soak.broken.is_set():
        print("soak: SEED=%d could not be done: a part of it has died" % options.seed)
        sys.exit(2)
    checker = os.path.join(here.HERE, "checker.py")
    sys.exit(subprocess.run([sys.executable, "-B", checker, options.root], check=False).returncode)


if __name__ == "__main__":
    main()
