"""Where a soak takes place: its folders, its file system, its store, the program's environment."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import line
import stores

HERE = os.path.dirname(os.path.abspath(__file__))
DISK_MB = 192
FEW = ("lane", "parent", "chore", "plain", "slow", "capped", "rated", "single")  # of the folder "center"
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")


class World:
    def __init__(self, root, program, probe, log=None, kind="file", standby=False):
        self.root = os.path.abspath(root)
        self.program = os.path.abspath(program)
        self.probe = os.path.dirname(os.path.abspath(probe))
        self.folder = os.path.join(self.root, "folder")
        self.disk = os.path.join(self.root, "disk")
        self.store = stores.Server(self, standby) if kind == "server" else stores.File(self)
        self.clock = os.path.join(self.root, "clock")
        self.path = log or os.path.join(self.root, "log")
        self.lines = None
        self.offset = 0        # ms by which the wall clock is said to be ahead
        self.farthest = 0
        self.mounted = False
        self.missing = {}      # faults that cannot be made here, and why
        self.sanitized = self._sanitized()
        self.slow = 4 if self.sanitized else 1

    def _sanitized(self):
        linked = subprocess.run(["ldd", self.program], capture_output=True, text=True).stdout
        return "libasan" in linked or "libtsan" in linked

    # ---- making it

    def make(self):
        if os.path.ismount(self.disk):
            subprocess.run(["umount", self.disk], check=True)
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.disk)
        self.lines = line.Log(self.path)
        self.set_clock(0)
        self.forget_the_dead()
        if self.store.kind == "file":
            self._mount()
        if self.sanitized:
            self._no_clock("a sanitized program takes no other clock")
        elif not FAKETIME:
            self._no_clock("libfaketime is not installed")
        self._make_folders()
        self._make_store()

    def _make_folders(self):
        whole, few = os.path.join(HERE, "folder"), self.folder_of("center")
        shutil.copytree(whole, self.folder)
        if self.store.kind == "file":
            return
        shutil.copytree(whole, few, ignore=shutil.ignore_patterns(
            "batches", "handlers", "retries", "schedules"))
        os.mkdir(few + "/handlers")
        for name in FEW:
            shutil.copy("%s/handlers/%s.lua" % (whole, name), few + "/handlers")

    def folder_of(self, node):
        return os.path.join(self.root, "center") if node == "center" else self.folder

    def face(self, node):
        """Where an executor answers over HTTP; the path of a socket is short."""
        return os.path.relpath(os.path.join(self.root, node + ".http"))

    def _no_clock(self, why):
        for fault in ("clock", "step"):
            self.missing[fault] = why

    # A file system of its own in a file, so that it can fill up and that a sync takes time.
    def _mount(self):
        image = os.path.join(self.root, "image")
        with open(image, "wb") as file:
            file.truncate(DISK_MB << 20)
        try:
            for words in (["mkfs.ext4", "-q", "-m", "0", image],
                          ["mount", "-o", "loop", image, self.disk]):
                subprocess.run(words, capture_output=True, text=True, check=True)
            self.mounted = True
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", None) or str(error)
            self.missing["full"] = "no file system of its own: " + why.strip().split("\n")[-1]

    def _make_store(self):
        self.store.begin()
        if self.store.kind == "server":
            self.run("store", "create", check=True)
        self.run("deploy", self.folder, check=True)
        self.store.watch()

    def leave(self):
        self.store.end()
        self.forget_the_dead()
        if self.mounted:
            subprocess.run(["umount", self.disk], check=False)
            subprocess.run(["rm", "-f", os.path.join(self.root, "image")], check=False)

    # ---- the clock that the program sees

    def set_clock(self, offset):
        self._write_clock(self.clock, offset)
        self.offset = offset
        self.farthest = max(self.farthest, offset)

    def set_clock_of(self, node, offset):
        """The clock of one executor, where each of them has its own."""
        self._write_clock("%s-%s" % (self.clock, node), offset)

    def clock_of(self, node):
        own = "%s-%s" % (self.clock, node)
        return own if os.path.exists(own) else self.clock

    @staticmethod
    def _write_clock(path, offset):
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("%+.3f\n" % (offset / 1000))
        os.rename(path + ".new", path)

    def now(self):
        return time.time_ns() // 1000000 + self.offset

    @staticmethod
    def forget_the_dead():
        """What libfaketime has left behind of processes that were killed: the next process of that
        number would meet it, and end."""
        for path in glob.glob("/dev/shm/*faketime_*_*"):
            number = path.rsplit("_", 1)[1]
            if number.isdigit() and not os.path.exists("/proc/" + number):
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass

    # ---- running the program

    def environment(self, node):
        environment = dict(os.environ, SOAK_LOG=self.path, SOAK_NODE=node,
                           LUA_CPATH="%s/?.so;%s/lua/?.so;;" % (self.probe,
                                                                os.path.dirname(self.program)),
                           LUA_PATH="%s/lua/?.lua;%s/lua/?/init.lua;;" % (self.source(),
                                                                          self.source()))
        if "clock" not in self.missing:
            environment.update(LD_PRELOAD=FAKETIME[0], FAKETIME_TIMESTAMP_FILE=self.clock_of(node),
                               FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1")
        return environment

    @staticmethod
    def source():
        return os.path.dirname(os.path.dirname(HERE))

    def command(self, *words, node="cli"):
        return [self.program, *words, "--store", self.store.url(node), *self.store.flags(node)]

    def start(self, *words, node="cli", **given):
        return subprocess.Popen(self.command(*words, node=node), env=self.environment(node), **given)

    def run(self, *words, check=False, node="cli", timeout=60):
        done = subprocess.run(self.command(*words, node=node), env=self.environment(node), text=True,
                              capture_output=True, timeout=timeout, check=False)
        if check and done.returncode != 0:
            raise RuntimeError("%s: %s" % (" ".join(words), done.stderr.strip()))
        return done

    def heard(self, process, errors):
        """What a command said on its way, and how it ended if a signal has ended it."""
        text = errors.decode("utf-8", "replace") if isinstance(errors, bytes) else errors or ""
        if text:
            with open(os.path.join(self.root, "commands.log"), "a", encoding="utf-8") as file:
                file.write(text)
        if process.returncode < 0 and process.returncode != -signal.SIGKILL:
            self.lines.write("N", "died", node="command", attempt=process.returncode)

    def interpreter(self):
        host = os.path.join(os.path.dirname(self.program), "host")
        return host if self.sanitized and os.path.exists(host) else "lua5.4"

    # ---- looking at the store, without the program

    def ask(self, sql, *values):
        """The rows, or None where the store cannot be asked now."""
        return self.store.ask(sql, *values)

    def dump(self):
        """What is in the store, and what the program says of it, after everybody has gone."""
        dump = self.store.dump()
        checked = self.run("check", timeout=None)
        dump["checked"] = {"status": checked.returncode, "text": checked.stdout + checked.stderr}
        with open(os.path.join(self.root, "dump.json"), "w", encoding="utf-8") as file:
            json.dump(dump, file)
