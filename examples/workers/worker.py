#!/usr/bin/env python3
"""Counts words: fetches jobs of the topic `wordcount`, ten at a time, and hands their results back.

    MOONSHIFT_URL=http://127.0.0.1:8080 MOONSHIFT_TOKEN=ms_… worker.py [ROUNDS]

One request hands back what is done and fetches the next jobs; where there are none it waits. Only the standard library is used.
"""
import json
import os
import socket
import sys
import urllib.request

URL = os.environ.get("MOONSHIFT_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("MOONSHIFT_TOKEN")
NAME = "python-%s-%d" % (socket.gethostname(), os.getpid())
WAIT = os.environ.get("WAIT", "PT20S")
NEXT = {"worker": NAME, "topics": ["wordcount"], "max": 10, "lock": "PT1M"}


def ask(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), method="POST")
    request.add_header("Content-Type", "application/json")
    if TOKEN:
        request.add_header("Authorization", "Bearer " + TOKEN)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def work(job):
    return {"words": len(job["payload"]["text"].split())}


def outcome(job):
    handed_back = {"id": job["id"], "token": job["token"]}
    try:
        return {**handed_back, "outcome": "complete", "result": work(job)}
    except Exception as error:
        return {**handed_back, "outcome": "fail", "message": "%s: %s" % (type(error).__name__, error)}


def main(rounds):
    jobs = []
    while jobs or rounds != 0:
        rounds -= 1
        if not jobs:
            jobs = ask("/v1/fetch", {**NEXT, "wait": WAIT})["jobs"]
            continue
        done = [outcome(job) for job in jobs]
        answer = ask("/v1/settle", {"worker": NAME, "outcomes": done, **({"fetch": NEXT} if rounds != 0 else {})})
        for told in answer["outcomes"]:
            print(told["id"], told.get("message", told["outcome"]), flush=True)
        jobs = answer.get("jobs", [])


main(int(sys.argv[1]) if len(sys.argv) > 1 else -1)
