// Looks at every screen of the page in a real browser: look.js ADDRESS JOB INSTANCE. Prints a line
// for each thing that is wrong, and "N screens" at the end.
const { chromium } = require("playwright-core");
const { readFileSync } = require("node:fs");

const [address, job, instance] = process.argv.slice(2);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const screens = ["", "jobs", "jobs?state=dead", `job/${job}`, "incidents", "schedules", "batches", "executors", "processes",
  "process/order", "process/order?activity=approve", `instance/${instance}`, "tasks", "history", "settings"];
const wrong = [];
const note = text => wrong.push(text);

async function look(page, screen, what) {
  await page.goto(`http://${address}/#/${screen}`);
  await page.waitForFunction(() => document.querySelector("#main h1"), null, { timeout: 30000 });
  await page.waitForFunction(() => document.querySelector("#pulse-text").textContent !== "connecting");
  if (await page.evaluate(() => document.querySelector("#main .error"))) note(`${what}: refused`);
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)) note(`${what}: wider than the window`);
  if (await page.evaluate(() => document.querySelector("#main img, #main b.injected, #main script"))) note(`${what}: text became markup`);
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const one of found.violations)
    if (one.impact === "serious" || one.impact === "critical") note(`${what}: ${one.id}: ${one.nodes[0].html}`);
}

// By keys alone: a dead job is found and read, why it is dead is told, it is tried again.
async function keys(page) {
  await page.goto(`http://${address}/#/`);
  await page.waitForFunction(() => document.querySelector("#main h1"));
  await page.keyboard.press("/");
  await page.keyboard.type("state:dead handler:boom");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/jobs") && document.querySelector("tr[data-row]"));
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/job/") && document.querySelector(".why"));
  const why = await page.textContent(".why");
  if (!why.includes("no retries left")) note(`why: ${why}`);
  await page.keyboard.press("r");
  await page.waitForSelector("dialog[open]");
  const shown = await page.textContent("dialog");
  if (!shown.includes("moonshift job retry") || !shown.includes("curl -X POST")) note(`the dialog says: ${shown}`);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector("dialog"));
  await page.waitForFunction(() => /done$/.test(document.querySelector("#pulse-text").textContent)
    || document.querySelectorAll(".times rect").length > 2, null, { timeout: 30000 });
}

// A diagram is walked by arrows.
async function walk(page) {
  await page.goto(`http://${address}/#/instance/${instance}`);
  await page.waitForSelector("[data-shape=ordered]");
  await page.keyboard.press("Space");
  await page.focus("[data-shape=ordered]");
  await page.keyboard.press("ArrowRight");
  const at = await page.evaluate(() => document.activeElement.dataset.shape);
  if (at !== "reserve") note(`right of the start: ${at}`);
  if (!(await page.textContent(".why")).includes("approve")) note("the instance does not say where it waits");
}

// It listens to events, and not while it is paused.
async function live(page) {
  const open = new Set();
  const events = request => request.url().includes("/v1/events");
  page.on("request", request => events(request) && open.add(request));
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, request => open.delete(request));
  const await_ = async count => {
    for (let i = 0; i < 600 && open.size !== count; i++) await page.waitForTimeout(100);
    if (open.size !== count) note(`${open.size} streams of events, ${count} expected`);
  };
  await page.goto(`http://${address}/#/`);
  await page.reload();
  await await_(1);
  await page.keyboard.press("Space");
  await await_(0);
  await page.keyboard.press("Space");
  await await_(1);
}

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  for (const [colorScheme, width] of [["dark", 1280], ["light", 1280], ["dark", 360], ["light", 360]]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 860 } });
    const page = await context.newPage();
    page.on("console", message => message.type() === "error" && note(`console: ${message.text()}`));
    page.on("pageerror", error => note(`error: ${error}`));
    for (const screen of screens) await look(page, screen, `${colorScheme} ${width} "${screen}"`);
    if (width === 1280 && colorScheme === "dark") { await keys(page); await walk(page); await live(page); }
    await context.close();
  }
  await browser.close();
  console.log([...wrong, `${screens.length} screens`].join("\n"));
}

main().catch(error => { console.log([...wrong, error.stack].join("\n")); process.exit(1); });
