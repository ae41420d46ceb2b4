#!/usr/bin/env python3
"""Talks to a server over a socket, byte by byte, and prints what it says.

talk.py ADDRESS      (127.0.0.1:PORT or a path)

A line of standard input is one step, [what, …] as JSON:
    ["send", TEXT]   sends it
    ["read"]         reads one answer: prints its status and its content; "end": there is none
    ["head"]         the same of an answer to HEAD
    ["headers"]      reads one answer: prints its status and headers, one a line
    ["events", PART] reads events until one has this part: prints the id, the kind and the content
                     of each; those of the kind "stats" are passed over
    ["half"]         will send nothing more
    ["many", N]      opens so many connections beside this one, each silent
    ["small"]        takes little into memory that is not read; before the first step
    ["flood", TEXT, N]  sends it N times, or until the server takes no more for a second
    ["trickle", TEXT] sends it byte by byte, ten a second; prints "cut" if the server answers
                     meanwhile, else "sent"
    ["until", TEXT, ANSWER]  sends it on new connections until this is the answer; prints that
    ["fewer"]        closes the silent ones
    ["leave"]        goes on with a new connection; this one stays as it is
    ["on", NAME]     goes on with the connection of this name, or with a new one; this one stays
    ["first"]        goes on with the first named one that has something to read
    ["quiet"]        prints of how many named ones nothing can be read now
    ["shows", TEXT, PART, N]  sends it until the answer has this part N times; prints "shown"
    ["shell", COMMAND]  runs it to its end; prints its status unless that is 0
    ["close"]        closes
    ["terminate", PID]  stops a process

What the server says is all that is printed. Nothing waits longer than a minute."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

LIMIT = 60  # seconds; whatever takes longer is a finding


class Talk:
    def __init__(self, address):
        self.address = address
        self.others = []
        self.named = {}
        self.name = None
        self.socket = None
        self.small = False
        self.rest = b""

    def connect(self):
        if self.address.startswith("/"):
            new = socket.socket(socket.AF_UNIX)
            new.settimeout(LIMIT)
            new.connect(self.address)
            return new
        host, port = self.address.rsplit(":", 1)
        new = socket.socket(socket.AF_INET6 if "[" in host else socket.AF_INET)
        if self.small:
            new.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        new.settimeout(LIMIT)
        new.connect((host.strip("[]"), int(port)))
        return new

    def line(self):
        if self.socket is None:
            self.socket = self.connect()
        return self.socket

    def more(self):
        try:
            piece = self.line().recv(65536)
        except ConnectionResetError:
            piece = b""
        self.rest += piece
        return piece

    def answer(self, content=True):
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        status = lines[0].split(" ")[1]
        headers = {one.split(":", 1)[0].lower(): one.split(":", 1)[1].strip() for one in lines[1:]}
        size = int(headers.get("content-length", "0")) if content and status != "100" else 0
        while len(self.rest) < size:
            if not self.more():
                break
        body, self.rest = self.rest[:size], self.rest[size:]
        return status, headers, body.decode()

    def read(self, content=True):
        answer = self.answer(content)
        print("end" if answer is None else " ".join((answer[0], answer[2])).strip())

    def headers(self):
        status, headers, _ = self.answer()
        print(status)
        for name in sorted(headers):
            print("%s: %s" % (name, headers[name]))

    def event(self):
        while b"\n\n" not in self.rest:
            if not self.more():
                return None
        text, self.rest = self.rest.split(b"\n\n", 1)
        return dict(line.split(": ", 1) for line in text.decode().split("\n"))

    def events(self, part):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            event = self.event()
            if event is None:
                print("end")
                return
            line = "%s %s %s" % (event.get("id"), event.get("event"), event.get("data"))
            if event.get("event") != "stats" or part in line:
                print(line)
            if part in line:
                return
        print("never " + part)

    def send(self, text):
        try:
            self.line().sendall(text.encode("latin-1"))
        except (BrokenPipeError, ConnectionResetError):
            pass  # what it has said is read all the same

    def flood(self, text, times):
        line = self.line()
        line.settimeout(1)
        try:
            for _ in range(times):
                line.sendall(text.encode("latin-1"))
        except (socket.timeout, BrokenPipeError, ConnectionResetError):
            pass
        line.settimeout(LIMIT)

    def trickle(self, text):
        line = self.line()
        for byte in text:
            if select.select([line], [], [], 0.1)[0]:
                print("cut")
                return
            line.sendall(byte.encode("latin-1"))
        print("sent")

    def until(self, text, wanted):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self.close()
            self.send(text)
            answer = self.answer()
            if answer and " ".join((answer[0], answer[2])) == wanted:
                print(wanted)
                return
        print("never " + wanted)

    def shows(self, text, part, times):
        end = time.monotonic() + LIMIT
        body = ""
        while time.monotonic() < end:
            self.send(text)
            _, _, body = self.answer()
            if body.count(part) == times:
                print("shown")
                return
            time.sleep(0.02)
        print("never shown: " + body)

    def on(self, name):
        self.named[self.name] = (self.socket, self.rest)
        self.name = name
        self.socket, self.rest = self.named.pop(name, (None, b""))

    def readable(self, seconds):
        lines = {one: name for name, (one, _) in self.named.items() if name and one}
        return [lines[one] for one in select.select(list(lines), [], [], seconds)[0]]

    def first(self):
        self.on(self.readable(LIMIT)[0])

    def quiet(self):
        print(sum(1 for name, (one, _) in self.named.items() if name and one) - len(self.readable(0)))

    def shell(self, command):
        status = subprocess.run(command, shell=True, stdout=subprocess.DEVNULL).returncode
        if status:
            print("status %d" % status)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.rest = None, b""

    def leave(self):
        self.others.append(self.socket)
        self.socket, self.rest, self.small = None, b"", False

    def fewer(self):
        for one in self.others:
            one.close()
        self.others = []

    def step(self, what, *words):
        if what == "send":
            self.send(*words)
        elif what == "read":
            self.read()
        elif what == "head":
            self.read(False)
        elif what == "headers":
            self.headers()
        elif what == "half":
            self.line().shutdown(socket.SHUT_WR)
        elif what == "many":
            self.others += [self.connect() for _ in range(words[0])]
        elif what == "small":
            self.small = True
        elif what == "events":
            self.events(*words)
        elif what == "flood":
            self.flood(*words)
        elif what == "terminate":
            os.kill(words[0], signal.SIGTERM)
        elif what in ("trickle", "until", "fewer", "leave", "close", "on", "first", "quiet", "shows", "shell"):
            getattr(self, what)(*words)
        else:
            sys.exit("unknown step " + what)
        sys.stdout.flush()


talk = Talk(sys.argv[1])
for step in sys.stdin:
    talk.step(*json.loads(step))
