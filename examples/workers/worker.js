#!/usr/bin/env node
// Counts words, as worker.py does: Node 18 or later, without packages.
//
//   MOONSHIFT_URL=http://127.0.0.1:8080 MOONSHIFT_TOKEN=ms_… node worker.js [ROUNDS]

const { hostname } = require("node:os");
const url = process.env.MOONSHIFT_URL || "http://127.0.0.1:8080";
const worker = `node-${hostname()}-${process.pid}`;
const next = { worker, topics: ["wordcount"], max: 10, lock: "PT1M" };
const wait = process.env.WAIT || "PT20S";

async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (process.env.MOONSHIFT_TOKEN) headers.Authorization = `Bearer ${process.env.MOONSHIFT_TOKEN}`;
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.detail);
  return value;
}

const work = job => ({ words: job.payload.text.split(/\s+/).filter(Boolean).length });

function outcome(job) {
  const back = { id: job.id, token: job.token };
  try {
    return { ...back, outcome: "complete", result: work(job) };
  } catch (error) {
    return { ...back, outcome: "fail", message: String(error) };
  }
}

async function main(rounds) {
  let jobs = [];
  while (jobs.length || rounds !== 0) {
    rounds -= 1;
    if (!jobs.length) {
      ({ jobs } = await ask("/v1/fetch", { ...next, wait }));
      continue;
    }
    const answer = await ask("/v1/settle", { worker, outcomes: jobs.map(outcome), ...(rounds ? { fetch: next } : {}) });
    for (const told of answer.outcomes) console.log(told.id, told.message || told.outcome);
    jobs = answer.jobs || [];
  }
}

main(process.argv[2] ? Number(process.argv[2]) : -1);
