#!/usr/bin/env node
// Counts words, as worker.py does: Node 18 or later, without packages.
//
//   JOBS_URL=http://127.0.0.1:8080 JOBS_TOKEN=ms_… node worker.js [ROUNDS]

const { hostname } = require("node:os");
const { setTimeout: sleep } = require("node:timers/promises");
const url = process.env.JOBS_URL || "http://127.0.0.1:8080";
const worker = `node-${hostname()}-${process.pid}`;
const lock = "PT1M", renewEvery = Number(process.env.RENEW || 20) * 1000;
const next = { worker, topics: ["wordcount"], max: 10, lock };
const wait = process.env.WAIT || "PT20S";
const stop = new AbortController();
let held = [];

async function askOnce(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (process.env.JOBS_TOKEN) headers.Authorization = `Bearer ${process.env.JOBS_TOKEN}`;
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body), signal });
  const value = await answer.json();
  const refused = !answer.ok && answer.status < 500 && answer.status !== 429;
  if (!answer.ok) throw Object.assign(new Error(value.detail), { refused });
  return value;
}

// Asks until the server answers: the pauses double up to a minute, and each is a random part of that.
async function ask(path, body, signal) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await askOnce(path, body, signal);
    } catch (error) {
      if (error.refused || signal?.aborted) throw error;
      console.error("away:", error.message);
      await sleep(Math.random() * Math.min(60, 2 ** attempt) * 1000, undefined, { signal });
    }
  }
}

function renew() {
  const outcomes = held.map(({ id, token }) => ({ id, token, outcome: "extend", lock }));
  if (outcomes.length) ask("/v1/settle", { worker, outcomes }).catch(error => console.error(error.message));
}

async function outcome(job) {
  const back = { id: job.id, token: job.token };
  try {
    await sleep((job.payload.seconds || 0) * 1000);
    return { ...back, outcome: "complete", result: { words: job.payload.text.split(/\s+/).filter(Boolean).length } };
  } catch (error) {
    return { ...back, outcome: "fail", message: String(error) };
  }
}

async function main(rounds) {
  while (held.length || (rounds > 0 && !stop.signal.aborted)) {
    rounds -= 1;
    if (!held.length) {
      ({ jobs: held } = await ask("/v1/fetch", { ...next, wait }, stop.signal));
      continue;
    }
    const outcomes = [];
    for (const job of held) outcomes.push(await outcome(job));
    const more = rounds > 0 && !stop.signal.aborted ? { fetch: next } : {};
    const answer = await ask("/v1/settle", { worker, outcomes, ...more });
    held = answer.jobs || [];
    for (const told of answer.outcomes) console.log(told.id, told.message || told.outcome);
  }
}

process.on("SIGTERM", () => stop.abort()); // behind the present jobs
setInterval(renew, renewEvery).unref();
main(process.argv[2] ? Number(process.argv[2]) : Infinity).catch(error => {
  if (!stop.signal.aborted) throw error;
});
