// plainjob: node plainjob.js FOLDER JOBS
const Database = require("better-sqlite3");
const { better, defineQueue, defineWorker } = require("plainjob");

const [folder, text] = process.argv.slice(2);
const jobs = Number(text);
const silent = () => {};
const logger = { error: silent, warn: silent, info: silent, debug: silent };

(async () => {
  const database = new Database(folder + "/jobs.db");
  const queue = defineQueue({ connection: better(database), logger });
  database.pragma("synchronous = FULL");
  let from = performance.now();
  for (let done = 0; done < jobs; done += 1000)
    queue.addMany("noop", Array.from({ length: Math.min(1000, jobs - done) }, (_, i) => ({
      order: done + i, note: "x".repeat(80) })));
  const created = performance.now() - from;
  from = performance.now();
  await new Promise((resolve) => {
    let ended = 0;
    defineWorker("noop", async () => {}, { queue, logger, onCompleted: () => {
      if (++ended === jobs) resolve();
    } }).start();
  });
  const drained = performance.now() - from;
  console.log(JSON.stringify({ created: jobs / created * 1000, drained: jobs / drained * 1000 }));
  process.exit(0);
})();
