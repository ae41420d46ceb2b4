#!/usr/bin/env python3
"""Stands for the API of somebody else: server.py LOG PORT_FILE.

Books invoices at POST /invoices/NUMBER and knows nothing of moonshift. It is overloaded by rule, so
that every run of the example ends in the same figures: each fifth invoice is answered 503 the first
time, each fifteenth the second time too. One line a request: seconds, invoice, answer.
"""
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

log = open(sys.argv[1], "w", buffering=1)
requests = {}
booked = set()


def answer(invoice):
    """201: booked; 200: it was there already; 503: come again."""
    requests[invoice] = requests.get(invoice, 0) + 1
    if requests[invoice] <= (invoice % 5 == 0) + (invoice % 15 == 0):
        return 503
    if invoice in booked:
        return 200
    booked.add(invoice)
    return 201


class Invoices(BaseHTTPRequestHandler):
    timeout = 5

    def do_POST(self):
        arrived = time.monotonic()
        invoice = int(self.path.rsplit("/", 1)[1])
        self.rfile.read(int(self.headers["Content-Length"]))
        status = answer(invoice)
        log.write(f"{arrived:.6f} {invoice} {status}\n")
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(HTTPServer):
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Invoices)
with open(sys.argv[2] + ".part", "w") as file:
    file.write(f"{server.server_port}\n")
os.rename(sys.argv[2] + ".part", sys.argv[2])
server.serve_forever()
