// BullMQ: node bullmq.js SOCKET JOBS
const { Queue, Worker } = require("bullmq");

const [path, text] = process.argv.slice(2);
const jobs = Number(text);
const connection = { path, maxRetriesPerRequest: null };

(async () => {
  const queue = new Queue("jobs", { connection });
  let from = performance.now();
  for (let done = 0; done < jobs; done += 1000)
    await queue.addBulk(Array.from({ length: Math.min(1000, jobs - done) }, (_, i) => ({
      name: "noop", data: { order: done + i, note: "x".repeat(80) },
      opts: { removeOnComplete: true } })));
  const created = performance.now() - from;
  from = performance.now();
  const worker = new Worker("jobs", async () => {}, { connection, concurrency: 100 });
  await new Promise((resolve) => {
    let ended = 0;
    worker.on("completed", () => { if (++ended === jobs) resolve(); });
  });
  const drained = performance.now() - from;
  console.log(JSON.stringify({ created: jobs / created * 1000, drained: jobs / drained * 1000 }));
  process.exit(0);
})();
