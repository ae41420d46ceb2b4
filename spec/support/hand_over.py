#!/usr/bin/env python3
"""Starts a program as systemd does, with a socket in its descriptor 3.

hand_over.py KIND PROGRAM WORD…

KIND: listens (at a free port of 127.0.0.1), silent (the socket does not listen), or other (it is
handed over to another process)."""
import os
import socket
import sys

kind, *command = sys.argv[1:]
handed = socket.socket()
handed.bind(("127.0.0.1", 0))
if kind != "silent":
    handed.listen()
os.dup2(handed.fileno(), 3)
os.environ["LISTEN_FDS"] = "1"
os.environ["LISTEN_PID"] = str(os.getppid() if kind == "other" else os.getpid())
os.execv(command[0], command)
