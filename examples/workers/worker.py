#!/usr/bin/env python3
"""Counts words: fetches jobs of the topic `wordcount`, ten at a time, and hands their results back.

    JOBS_URL=http://127.0.0.1:8080 JOBS_TOKEN=ms_… worker.py [ROUNDS]

One request hands back what is done and fetches the next jobs; where there are none it waits. A second thread keeps the locks
of the jobs at work. TERM ends it behind its present jobs. Only the standard library is used.
"""
import json, math, os, random, signal, socket, sys, threading, time
import urllib.error, urllib.request

URL = os.environ.get("JOBS_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("JOBS_TOKEN")
NAME = "python-%s-%d" % (socket.gethostname(), os.getpid())
NEXT = {"worker": NAME, "topics": ["wordcount"], "max": 10, "lock": "PT1M"}
waits, held, stops = False, [], threading.Event()


def ask_once(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), method="POST")
    request.add_header("Content-Type", "application/json")
    if TOKEN:
        request.add_header("Authorization", "Bearer " + TOKEN)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def ask(path, body):
    """Asks until the server answers: the pauses double up to a minute, and each is a random part of that."""
    for attempt in range(1000000):
        try:
            return ask_once(path, body)
        except (OSError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429:
                raise
            print("away:", error, file=sys.stderr, flush=True)
            time.sleep(random.uniform(0, min(60, 2 ** min(attempt, 6))))


def renew():
    while True:
        time.sleep(float(os.environ.get("RENEW", "20")))
        kept = [{"id": job["id"], "token": job["token"], "outcome": "extend", "lock": "PT1M"} for job in list(held)]
        if kept:
            ask("/v1/settle", {"worker": NAME, "outcomes": kept})


def stop(_signal, _frame):
    stops.set()
    if waits:
        sys.exit(0)


def outcome(job):
    handed_back = {"id": job["id"], "token": job["token"]}
    try:
        time.sleep(job["payload"].get("seconds", 0))
        return {**handed_back, "outcome": "complete", "result": {"words": len(job["payload"]["text"].split())}}
    except Exception as error:
        return {**handed_back, "outcome": "fail", "message": "%s: %s" % (type(error).__name__, error)}


signal.signal(signal.SIGTERM, stop)
threading.Thread(target=renew, daemon=True).start()
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else math.inf
while held or (rounds > 0 and not stops.is_set()):
    rounds -= 1
    if not held:
        waits = True
        held = ask("/v1/fetch", {**NEXT, "wait": os.environ.get("WAIT", "PT20S")})["jobs"]
        waits = False
        continue
    done = [outcome(job) for job in held]
    more = rounds > 0 and not stops.is_set()
    answer = ask("/v1/settle", {"worker": NAME, "outcomes": done, **({"fetch": NEXT} if more else {})})
    held = answer.get("jobs", [])
    for told in answer["outcomes"]:
        print(told["id"], told.get("message", told["outcome"]), flush=True)
