#!/usr/bin/env python3
"""What stands between an executor and the server: a process that passes on, holds up and breaks.

    proxies.py LISTEN TARGET…    pairs of sockets; commands come by lines on the standard input

pass            everything goes through, as it does at the beginning
hold            nothing does, in neither direction, and no connection breaks; what comes meanwhile
                is kept
cut             every connection breaks
delay MS        each message waits for up to so long
swallow WAY     the next message does not arrive, and its connection breaks
halve WAY       the same of the second half of it
WAY is "answer" (of the server) or "request".
"""
import asyncio
import functools
import os
import random
import subprocess
import sys

BLOCK = 1 << 16


class Proxy:
    """Such a process, as the soak sees it."""

    def __init__(self, *sockets):
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.abspath(__file__), *sockets],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()  # it listens

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Gate:
    """What is in force at this moment."""

    def __init__(self):
        self.open = asyncio.Event()
        self.open.set()
        self.delay = 0
        self.tricks = {}  # way: trick
        self.writers = set()

    async def serve(self, target, client, answers):
        try:
            server, requests = await asyncio.open_unix_connection(target)
        except OSError:
            answers.close()
            return
        self.writers |= {answers, requests}
        ways = [asyncio.ensure_future(self.pump(client, requests, "request")),
                asyncio.ensure_future(self.pump(server, answers, "answer"))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for writer in (answers, requests):
            self.writers.discard(writer)
            writer.close()

    async def pump(self, reader, writer, way):
        try:
            while await self.passed(await reader.read(BLOCK), writer, way):
                pass
        except OSError:
            pass

    async def passed(self, data, writer, way):
        """Whether the connection lives on."""
        if self.delay:
            await asyncio.sleep(random.random() * self.delay)
        await self.open.wait()
        trick = self.tricks.pop(way, None) if data else None
        if not data or trick == "swallow":
            return False
        writer.write(data[:len(data) // 2] if trick else data)
        await writer.drain()
        return not trick

    def do(self, word, given=None):
        if word == "pass":
            self.delay = 0
            self.open.set()
        elif word == "hold":
            self.open.clear()
        elif word == "cut":
            for writer in self.writers:
                writer.transport.abort()
        elif word == "delay":
            self.delay = int(given) / 1000
        else:
            self.tricks[given] = word


async def main(*sockets):
    gate = Gate()
    for listen, target in zip(sockets[::2], sockets[1::2]):
        await asyncio.start_unix_server(functools.partial(gate.serve, target), listen)
        os.chmod(listen, 0o777)
    commands = asyncio.StreamReader()
    await asyncio.get_event_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print("ready", flush=True)
    while words := (await commands.readline()).decode().split():
        gate.do(*words)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
