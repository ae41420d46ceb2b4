"""Executors under test: started, told things, killed, watched; each of it with a line in the log."""
import os
import signal
import subprocess
import threading
import time

# Their ranges overlap: north alone takes 61 and more, south alone 19 and less.
NAMES = {"north": ["--priority-range", "20:", "--deployment-aware", "false"],
         "south": ["--priority-range", ":60", "--deployment-aware", "true"]}
LARGE = ["--page", "256", "--queue", "256"]  # locks of so many jobs may stand in one row
POOLED = {"east": LARGE, "west": LARGE}  # behind pools of connections
# With a folder of its own, which has fewer handlers.
CENTRAL = {"center": ["--priority-range", "10:50", *LARGE]}
AHEAD = 300000  # ms by which an executor's own clock may differ


class Executor:
    def __init__(self, world, name):
        self.world = world
        self.name = name
        self.process = None
        self.wanted = False
        self.lock = threading.RLock()  # one signal, and what belongs to it, at a time
        self.stderr = os.path.join(world.root, name + ".log")

    def note(self, event, **fields):
        self.world.lines.write("N", event, node=self.name,
                               pid=self.process.pid if self.process else 0, **fields)

    def start(self):
        with self.lock:
            if self.alive():
                return  # another fault, or the watch, was first
            self.world.forget_the_dead()
            with open(self.stderr, "ab") as errors:
                self.process = self.world.start(
                    "run", self.world.folder_of(self.name), "--name", self.name, "--log-format",
                    "logfmt", "--http", "unix:" + self.world.face(self.name), *{**NAMES, **POOLED, **CENTRAL}[self.name], node=self.name,
                    stderr=errors, stdout=errors, stdin=subprocess.DEVNULL)
            self.wanted = True
            self.note("started")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, what, event):
        with self.lock:
            if self.alive():
                self.note(event)
                self.process.send_signal(what)
                return True
            return False

    def kill(self):
        """As by kill -9; returns when it is gone."""
        with self.lock:
            self.wanted = False
            self.note("kill")
            self.process.kill()
            self.process.wait()
            self.note("killed")
            self.world.forget_the_dead()

    def terminate(self, limit):
        """Tells it to end, waits, and looks at what it has left behind."""
        with self.lock:
            self.wanted = False
            if not self.signal(signal.SIGTERM, "term"):
                return
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.note("overdue")
            self.kill()
            return
        left = self.world.ask("SELECT count(*) FROM locks l JOIN executor e ON e.id=l.owner"
                              " WHERE e.name=?", self.name)
        self.note("exited", attempt=code, retries=left[0][0] if left else None)

    def pause(self, seconds):
        """Stopped as a machine that is frozen, then goes on."""
        if self.signal(signal.SIGSTOP, "stop"):
            time.sleep(seconds)
            if self.alive():
                self.process.send_signal(signal.SIGCONT)
            self.note("cont")


class Watch(threading.Thread):
    """Starts again who has died by himself, and writes it down."""

    def __init__(self, executors):
        super().__init__(daemon=True)
        self.executors = executors
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(0.1):
            for executor in self.executors:
                with executor.lock:
                    if executor.wanted and not executor.alive():
                        executor.note("died", attempt=executor.process.returncode)
                        time.sleep(0.3)
                        executor.start()
