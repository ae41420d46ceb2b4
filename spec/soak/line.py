"""The lines of the log: what driver, handlers, nemesis and checker have in common.

One line of 256 bytes for each event, written with one write(2) to a file opened for appending:

    SUM T SOURCE PID NODE EVENT JOB ATTEMPT TOKEN PRIORITY LANE DUE RETRIES HASH WALL NOTE

SUM is the CRC-32 of what follows it; T is CLOCK_MONOTONIC in ns, asked of the kernel; SOURCE is P
(who creates and operates), H (a handler) or N (the nemesis); WALL is the wall clock in ms, as the
writer sees it; what is absent is "-". NOTE may have blanks.
"""
import collections
import os
import time
import zlib

LENGTH = 256
FIELDS = ("t", "source", "pid", "node", "event", "job", "attempt", "token", "priority", "lane",
          "due", "retries", "hash", "wall", "note")
NUMBERS = {"t", "pid", "job", "attempt", "token", "priority", "retries", "wall"}

Line = collections.namedtuple("Line", FIELDS)


def hash_of(text):
    data = text.encode()
    return "%08x-%d" % (zlib.crc32(data), len(data))


def show(fields):
    """The bytes of a line."""
    words = []
    for name in FIELDS:
        value = fields.get(name)
        words.append("-" if value is None or value == "" else str(value))
    body = " ".join(words).encode("ascii", "replace").replace(b"\n", b" ")[:LENGTH - 10]
    body = body.ljust(LENGTH - 10)
    return b"%08x " % zlib.crc32(body) + body + b"\n"


def read(raw):
    """A Line, or None where the bytes are no whole line."""
    if len(raw) != LENGTH - 1 or raw[8:9] != b" ":
        return None
    try:
        if int(raw[:8], 16) != zlib.crc32(raw[9:]):
            return None
        words = raw[9:].decode().split(" ", len(FIELDS) - 1)
        values = []
        for name, word in zip(FIELDS, words):
            word = word.rstrip()
            if name in NUMBERS:
                values.append(None if word == "-" else int(word))
            else:
                values.append(None if word == "-" else word)
        return Line(*values)
    except (ValueError, UnicodeDecodeError):
        return None


class Log:
    """Where the driver writes its own lines."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def write(self, source, event, **fields):
        fields.update(t=time.clock_gettime_ns(time.CLOCK_MONOTONIC), source=source, event=event,
                      wall=time.time_ns() // 1000000)
        fields.setdefault("pid", os.getpid())
        fields.setdefault("node", "driver")
        os.write(self.file, show(fields))
