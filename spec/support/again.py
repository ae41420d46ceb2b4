#!/usr/bin/env python3
"""Asks a server for the same things over several connections, again and again until each has an
answer, whatever dies meanwhile.

again.py SOCKET CONNECTIONS <REQUESTS

A line of standard input is one request, {"path", "body", "key"}. Each connection asks for all of
them, and prints a line for each answer: its number, the key, the status and the content."""
import json
import socket
import sys
import threading
import time

LIMIT = 300  # seconds; what has no answer until then is a finding
printing = threading.Lock()


def request_of(one):
    body = json.dumps(one["body"]).encode()
    head = ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n" % (one["path"], one["key"], len(body)))
    return head.encode() + body


class Client:
    def __init__(self, path):
        self.path, self.line, self.file = path, None, None

    def connect(self):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(60)
        self.line.connect(self.path)
        self.file = self.line.makefile("rb")

    def ask(self, request):
        if self.line is None:
            self.connect()
        self.line.sendall(request)
        status = self.file.readline().decode().split(" ")
        size = 0
        for header in iter(self.file.readline, b"\r\n"):
            if not header:
                raise ConnectionResetError
            name, value = header.decode().split(":", 1)
            size = int(value) if name.lower() == "content-length" else size
        body = self.file.read(size)
        if len(status) < 2 or len(body) < size:
            raise ConnectionResetError
        return int(status[1]), body.decode()

    def until(self, request, end):
        while time.monotonic() < end:
            try:
                status, body = self.ask(request)
                if status < 400 or (status < 500 and "\"busy\"" not in body and status != 409):
                    return status, body
            except OSError:
                self.line = None
            time.sleep(0.01)
        return 0, "no answer"


def ask_all(number, path, requests, end):
    client = Client(path)
    turned = requests[number % len(requests):] + requests[:number % len(requests)]
    for one in turned:
        status, body = client.until(request_of(one), end)
        with printing:
            print("%d %s %d %s" % (number, one["key"], status, body), flush=True)


wanted = [json.loads(line) for line in sys.stdin]
threads = [threading.Thread(target=ask_all, args=(i, sys.argv[1], wanted, time.monotonic() + LIMIT))
           for i in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
