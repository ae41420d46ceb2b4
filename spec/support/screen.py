#!/usr/bin/env python3
"""Runs a program on a terminal of its own, types, and says what the terminal shows.

screen.py ROWS COLUMNS COMMAND…

A line of standard input is one step, [what, …] as JSON:
    ["shows", TEXT]   waits until the last frame has this; prints "shown"
    ["hides", TEXT]   waits until the last frame has it no more; prints "hidden"
    ["type", TEXT]    types it
    ["signal", NAME]  sends the signal to the program
    ["stopped"]       waits until the program is stopped; prints "stopped"
    ["size", ROWS, COLUMNS]  changes the terminal's size, and tells the program so
    ["widest"]        prints the columns of the widest line of the last frame
    ["shell", COMMAND]  runs it to its end; prints its status unless that is 0
    ["end"]           waits for the end of the program; prints its status or the signal's name
    ["restored"]      prints "restored" if the terminal is as it was before, else what differs

Nothing waits longer than a minute."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

LIMIT = 60  # seconds; whatever takes longer is a finding
TAKE, GIVE = b"\x1b[?1049h\x1b[?25l", b"\x1b[?25h\x1b[?1049l"
FRAME = b"\x1b[H"


class Screen:
    def __init__(self, rows, columns, command):
        self.main, self.side = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.side)
        self.seen = b""
        self.status = None
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.side, termios.TIOCSCTTY, 0)
            for number in (0, 1, 2):
                os.dup2(self.side, number)
            os.environ["TERM"] = "xterm"
            os.environ.pop("NO_COLOR", None)
            os.execvp(command[0], command)

    def resize(self, rows, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.main], [], [], seconds)[0]:
            self.seen += os.read(self.main, 65536)

    def frame(self):
        text = self.seen[self.seen.rfind(FRAME):] if FRAME in self.seen else self.seen
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode("utf-8", "replace"))

    def await_frame(self, test, said):
        end = time.monotonic() + LIMIT
        while not test(self.frame()):
            if time.monotonic() > end:
                print("never %s: %s" % (said, self.frame()))
                return
            self.read(0.05)
        print(said)

    def wait(self, options):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG | options)
            if pid:
                return status
            self.read(0.02)
        sys.exit("it goes on")

    def end(self):
        status = self.wait(0)
        self.read(0)
        if os.WIFSIGNALED(status):
            print(signal.Signals(os.WTERMSIG(status)).name)
        else:
            print(os.WEXITSTATUS(status))

    def restored(self):
        self.read(0)
        after = termios.tcgetattr(self.side)
        wrong = [str(i) for i in range(6) if after[i] != self.before[i]]
        wrong += ["cc"] if after[6] != self.before[6] else []
        if self.seen.rfind(GIVE) < self.seen.rfind(TAKE):
            wrong.append("screen")
        print("restored" if not wrong else " ".join(wrong))

    def step(self, what, *words):
        if what == "shows":
            self.await_frame(lambda frame: words[0] in frame, "shown")
        elif what == "hides":
            self.await_frame(lambda frame: words[0] not in frame, "hidden")
        elif what == "type":
            os.write(self.main, words[0].encode())
        elif what == "signal":
            os.kill(self.pid, getattr(signal, "SIG" + words[0]))
        elif what == "stopped":
            print("stopped" if os.WIFSTOPPED(self.wait(os.WUNTRACED)) else "ended")
        elif what == "size":
            self.seen = b""
            self.resize(*words)
            os.kill(self.pid, signal.SIGWINCH)
        elif what == "widest":
            print(max(len(line) for line in self.frame().replace("\r", "").split("\n")))
        elif what == "shell":
            status = subprocess.run(words[0], shell=True, stdout=subprocess.DEVNULL).returncode
            if status:
                print("status %d" % status)
        elif what == "end":
            self.end()
        elif what == "restored":
            self.restored()
        else:
            sys.exit("unknown step " + what)
        sys.stdout.flush()


screen = Screen(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
try:
    for step in sys.stdin:
        screen.step(*json.loads(step))
finally:
    try:
        os.kill(screen.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
