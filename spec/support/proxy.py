#!/usr/bin/env python3
"""A small proxy that knows its users, as one before a sign-in of a company does.

proxy.py FROM UPSTREAM     FROM: its own address towards UPSTREAM, "127.0.0.2", or "unix"
                           UPSTREAM: 127.0.0.1:PORT, or a path

It listens on a free port of 127.0.0.1 and prints it. The cookie `user=NAME/GROUPS` is its sign-in:
it says so to UPSTREAM as X-Forwarded-User and X-Forwarded-Groups, and takes both away from what
clients send. A request without the cookie goes on without them. It ends when its input ends."""
import re
import socket
import sys
import threading

SAID = re.compile(rb"\r\nx-forwarded-[^\r]*", re.I)
COOKIE = re.compile(rb"\r\nCookie: user=([^/\r]*)/([^\r]*)")


def connect(own, upstream):
    if own == "unix":
        line = socket.socket(socket.AF_UNIX)
        line.connect(upstream)
        return line
    host, port = upstream.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 60, (own, 0))


def copy(source, target):
    try:
        while True:
            piece = source.recv(65536)
            if not piece:
                break
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one of them has gone


def head_of(client):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        if not piece:
            return None, b""
        data += piece
    return data.split(b"\r\n\r\n", 1)


def serve(client, own, upstream):
    head, rest = head_of(client)
    if head is None:
        return client.close()
    head = SAID.sub(b"", head)
    who = COOKIE.search(head)
    if who:
        head += b"\r\nX-Forwarded-User: " + who[1] + b"\r\nX-Forwarded-Groups: " + who[2]
    server = connect(own, upstream)
    server.sendall(head + b"\r\nConnection: close\r\n\r\n" + rest)
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)
    client.close()
    server.close()


def listen(own, upstream):
    door = socket.create_server(("127.0.0.1", 0))
    print(door.getsockname()[1], flush=True)
    while True:
        client, _ = door.accept()
        threading.Thread(target=serve, args=(client, own, upstream), daemon=True).start()


threading.Thread(target=listen, args=sys.argv[1:3], daemon=True).start()
sys.stdin.read()
