#!/usr/bin/env python3
"""Stands in for a service manager: notified.py SOCKET prints what it is told, a line each time."""
import socket
import sys

manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
while True:
    print(manager.recv(4096).decode().replace("\n", " "), flush=True)
