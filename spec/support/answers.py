"""A server whose answers are as bad as a path asks for. `answers.py FOLDER` writes FOLDER/ports
(names and numbers) once it listens, and a line of FOLDER/log for each connection and each request:
method and path. With certificates in FOLDER it speaks TLS as well."""
import gzip
import json
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import zlib

FOLDER = sys.argv[1]
MIB = 1 << 20
ports = {}
log = open(FOLDER + "/log", "a", buffering=1)


def head(status=200, *lines):
    return ("HTTP/1.1 %d Said\r\n" % status + "".join(line + "\r\n" for line in lines) + "\r\n").encode()


def whole(body=b"{}", *lines, status=200):
    if isinstance(body, str):
        body = body.encode()
    return head(status, "Content-Length: %d" % len(body), *lines) + body


def to(url, status=302):
    return head(status, "Location: " + url, "Content-Length: 0")


def reset(peer):
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def hang(peer, *_):
    try:
        while peer.recv(65536):
            pass
    except OSError:
        pass


def drip(peer, text):
    for byte in text:
        peer.sendall(bytes([byte]))
        time.sleep(1)


def pour(peer, piece, count):
    for _ in range(count):
        peer.sendall(piece)


def bomb():
    """64 MiB of zeros as gzip: 64 KiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(MIB)) for _ in range(64)) + packer.flush()


def size_of(path):
    return int(path.split("/")[2])


def echo(request):
    return json.dumps({"method": request["method"], "headers": request["headers"],
                       "body": request["body"].decode("latin-1")})


def base(name="plain", scheme="http", host="127.0.0.1"):
    return "%s://%s:%d" % (scheme, host, ports[name])


SAID = {  # what is sent at once
    "ok": lambda r: whole('{"answer":42}', "Content-Type: application/json", "X-Two: a", "x-two: b"),
    "echo": lambda r: whole(echo(r)),
    "size": lambda r: whole(b"x" * size_of(r["path"])),
    "chunked": lambda r: head(200, "Transfer-Encoding: chunked") + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "chunk_bad": lambda r: head(200, "Transfer-Encoding: chunked") + b"zz\r\nabc\r\n",
    "gzip": lambda r: whole(gzip.compress(b"unpacked"), "Content-Encoding: gzip"),
    "gzip_bad": lambda r: whole(b"no gzip at all", "Content-Encoding: gzip"),
    "gzip_bomb": lambda r: whole(bomb(), "Content-Encoding: gzip"),
    "gzip_layers": lambda r: whole(b"x", "Content-Encoding: " + ", ".join(["gzip"] * 40)),
    "no_http": lambda r: b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "bare": lambda r: b"<html>no head at all</html>",
    "status_bad": lambda r: b"HTTP/1.1 abc What\r\n\r\n",
    "huge_length": lambda r: head(200, "Content-Length: 99999999999999999999999999"),
    "empty": lambda r: head(204),
    "keep": lambda r: whole("", status=404),
    "short": lambda r: head(200, "Content-Length: 100") + b"only this",
    "later": lambda r: whole("", "Retry-After: 7", status=429),
    "later_date": lambda r: whole("", "Retry-After: Fri, 31 Dec 2199 23:59:59 GMT", status=503),
    "status": lambda r: whole(r["path"], status=size_of(r["path"])),
    "to_ok": lambda r: to("/ok"),
    "to_absolute": lambda r: to(base() + "/ok"),
    "to_other": lambda r: to(base("other") + "/echo"),
    "to_ftp": lambda r: to("ftp://127.0.0.1/x"),
    "to_file": lambda r: to("file:///etc/passwd"),
    "to_denied": lambda r: to("http://127.0.0.2:%d/ok" % ports["plain"]),
    "to_denied_name": lambda r: to("http://denied.invalid/ok"),
    "to_any": lambda r: to(base(host="0.0.0.0") + "/ok"),
    "folded": lambda r: head(200, "X-Long: one,", "\t two", "Content-Length: 0"),
    "to_nowhere": lambda r: to("http://"),
    "to_circle": lambda r: to("/to_circle"),
    "to_none": lambda r: head(302, "Content-Length: 0"),
    "303": lambda r: to("/echo", 303),
    "302": lambda r: to("/echo", 302),
    "307": lambda r: to("/echo", 307),
}


def endless_chunks(peer, _):
    peer.sendall(head(200, "Transfer-Encoding: chunked"))
    pour(peer, b"10000\r\n" + b"x" * 65536 + b"\r\n", 4096)


def head_then_reset(peer, _):
    peer.sendall(head(200, "Content-Length: 100"))
    time.sleep(0.05)
    reset(peer)


DONE = {  # what takes the connection over
    "close": lambda peer, r: None,
    "reset": lambda peer, r: reset(peer),
    "head_reset": head_then_reset,
    "head_cut": lambda peer, r: peer.sendall(b"HTTP/1.1 200 Said\r\nContent-Le"),
    "trailer": lambda peer, r: peer.sendall(head(200, "Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\nX-More: y\r\n\r\n"),
    "silent": hang,
    "drip_head": lambda peer, r: drip(peer, whole(b"x")),
    "drip_body": lambda peer, r: (peer.sendall(head(200, "Content-Length: 100")), drip(peer, b"x" * 100)),
    "endless": endless_chunks,
    "heads": lambda peer, r: (peer.sendall(b"HTTP/1.1 200 Said\r\n"), pour(peer, b"X-More: " + b"y" * 990 + b"\r\n", 104858)),
    "long_line": lambda peer, r: (peer.sendall(b"HTTP/1.1 200 Said\r\nX-More: "), pour(peer, b"y" * MIB, 100)),
    "continues": lambda peer, r: pour(peer, head(100), 1 << 20),
    "trailers": lambda peer, r: (peer.sendall(head(200, "Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n"), pour(peer, b"X-More: " + b"y" * 990 + b"\r\n", 104858)),
}


class Handler(socketserver.BaseRequestHandler):
    def read(self):
        while b"\r\n\r\n" not in self.data:
            more = self.request.recv(65536)
            if not more:
                return None
            self.data += more
            if self.data[0] == 0x16:  # a hello of TLS
                self.request.sendall(head(400, "Content-Length: 0"))
                return None
        top, _, self.data = self.data.partition(b"\r\n\r\n")
        lines = top.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        size = int(headers.get("content-length", 0))
        while len(self.data) < size:
            self.data += self.request.recv(65536)
        body, self.data = self.data[:size], self.data[size:]
        return {"method": method, "path": path, "headers": headers, "body": body}

    def handle(self):
        self.data = b""
        log.write("connection\n")
        try:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                request = self.read()
                if not request:
                    return
                name = request["path"].split("/")[1].split("?")[0]
                log.write("%s %s\n" % (request["method"], request["path"]))
                if name not in SAID:
                    DONE[name](self.request, request)
                    return
                said = SAID[name](request)
                if request["method"] == "HEAD":
                    said = said[: said.index(b"\r\n\r\n") + 4]
                self.request.sendall(said)
                if name in ("short", "no_http", "bare", "status_bad", "chunk_bad"):
                    return
        except (OSError, ValueError):
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512
    context = None

    def finish_request(self, request, address):
        if self.context:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return
        super().finish_request(request, address)

    def handle_error(self, request, address):
        pass


def listen(name, port=0, certificate=None, handler=Handler, host="127.0.0.1"):
    server = Server((host, port), handler)
    if certificate:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain("%s/%s.pem" % (FOLDER, certificate), FOLDER + "/leaf.key")
    ports[name] = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()


class Hang(socketserver.BaseRequestHandler):
    def handle(self):
        hang(self.request)


closed = socket.socket()
closed.bind(("127.0.0.1", 0))
ports["closed"] = closed.getsockname()[1]
listen("plain")
listen("other")
listen("second", ports["plain"], host="127.0.0.2")
listen("hang", handler=Hang)
for certificate in ("good", "expired", "wrong", "strange"):
    if os.path.exists("%s/%s.pem" % (FOLDER, certificate)):
        listen(certificate, certificate=certificate)
with open(FOLDER + "/ports.new", "w") as file:
    for name, port in ports.items():
        file.write("%s %d\n" % (name, port))
os.rename(FOLDER + "/ports.new", FOLDER + "/ports")
threading.Event().wait()
