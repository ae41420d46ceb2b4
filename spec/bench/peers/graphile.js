// graphile-worker: node graphile.js URL JOBS
const { run, makeWorkerUtils, Logger } = require("graphile-worker");

const [connectionString, text] = process.argv.slice(2);
const jobs = Number(text);
const logger = new Logger(() => () => {});

async function create() {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  const from = performance.now();
  for (let done = 0; done < jobs; done += 1000)
    await utils.addJobs(Array.from({ length: Math.min(1000, jobs - done) }, (_, i) => ({
      identifier: "noop", payload: { order: done + i, note: "x".repeat(80) } })));
  const span = performance.now() - from;
  await utils.withPgClient((client) => client.query("VACUUM ANALYZE"));
  return [utils, span];
}

// Until the last row is gone: completions are written in batches.
async function drain(utils) {
  let ran = 0;
  const from = performance.now();
  const runner = await run({
    preset: { worker: { connectionString, logger, concurrentJobs: 24, maxPoolSize: 26,
      localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: { noop: async () => { ran++; } }, noHandleSignals: true });
  const left = async () => (await utils.withPgClient((client) =>
    client.query("SELECT count(*)::int AS n FROM graphile_worker._private_jobs"))).rows[0].n;
  while (ran < jobs || (await left()) > 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const span = performance.now() - from;
  await runner.stop();
  return span;
}

(async () => {
  const [utils, created] = await create();
  const drained = await drain(utils);
  console.log(JSON.stringify({ created: jobs / created * 1000, drained: jobs / drained * 1000 }));
  process.exit(0);
})();
