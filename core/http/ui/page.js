// The page of an executor. Everything that is shown is text of elements: nothing from a job ever
// becomes markup. Every button is one request to /v1, shown as a command and as curl.

// ---- elements ----

const SVG = "http://www.w3.org/2000/svg";
const $ = selector => document.querySelector(selector);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// ---- words ----

const whole = new Intl.NumberFormat("en");

function count(number) {
  const value = Number(number) || 0;
  if (value >= 1e6) return (value / 1e6).toFixed(1) + " M";
  if (value >= 1e5) return (value / 1e3).toFixed(0) + " k";
  return whole.format(value);
}

// "3 min", "2 h", of milliseconds.
function span(ms) {
  const units = [["d", 86400e3], ["h", 3600e3], ["min", 60e3], ["s", 1e3]];
  for (const [name, length] of units)
    if (ms >= length) return `${(ms / length).toFixed(ms >= 10 * length ? 0 : 1)} ${name}`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

function moment(text) {
  const at = text ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) return text || "";
  const away = at - Date.now();
  return away > 0 ? `in ${span(away)}` : `${span(-away)} ago`;
}

// An instant as people say it, with the exact one behind it.
const time = text => text ? el("time", { datetime: text, title: text }, moment(text)) : "";

const plain = value => value === null || value === undefined ? ""
  : typeof value === "object" ? JSON.stringify(value) : String(value);

const STATES = ["ready", "locked", "scheduled", "waiting", "suspended", "dead"];
const WORDS = { locked: "running" };
const state = name => el("span", { class: name }, el("i", { class: "dot" }), WORDS[name] || name);

// ---- requests ----

let rights = { who: "", scopes: "" };

class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `status ${status}`);
    this.status = status;
    this.code = problem.code;
  }
}

async function request(method, path, body, headers) {
  const answer = await fetch(path, {
    method, credentials: "same-origin", cache: "no-store",
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  let value = null;
  try { value = text ? JSON.parse(text) : null; } catch { value = null; }
  if (!answer.ok) throw new Refused(answer.status, value || {});
  return value;
}

const query = values => {
  const pairs = Object.entries(values || {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter(one => one !== undefined && one !== "")
      .map(one => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`));
  return pairs.length ? "?" + pairs.join("&") : "";
};
const name = text => String(text).split("/").map(encodeURIComponent).join("/");
const ask = (path, values) => request("GET", "/v1/" + path + query(values));
const rows = async (path, values) => (await ask(path, values)).items;
// What is refused for want of rights or of a thing is shown as nothing.
const perhaps = (promise, otherwise) => promise.catch(error => {
  if (error.status === 403 || error.status === 404) return otherwise;
  throw error;
});

// ---- what a button does ----

const quote = text => /^[\w./:=@%+-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;
const command = words => "moonshift " + words.map(quote).join(" ");
const curl = (path, body) =>
  `curl -X POST ${quote(location.origin + "/v1/" + path)} -H 'Content-Type: application/json' -d ${quote(JSON.stringify(body || {}))}`;

function say(text) {
  $("#pulse-text").textContent = text;
}

// A dialog with fields; resolves to their values, or null.
function dialog(title, contents, fields, accept, bad) {
  return new Promise(resolve => {
    const inputs = fields.map(field => el("input", {
      id: "field-" + field.key, type: field.type || "text", value: field.value || "", required: field.needed,
      autocomplete: "off",
    }));
    const box = el("dialog", { "aria-labelledby": "dialog-title" },
      el("form", { method: "dialog" },
        el("h2", { id: "dialog-title" }, title), contents,
        fields.map((field, i) => [el("label", { for: "field-" + field.key }, field.label), inputs[i]]),
        el("div", { class: "tools" },
          el("button", { value: "yes", class: bad ? "bad" : "go" }, accept),
          el("button", { value: "", type: "button", onclick: () => box.close("") }, "Cancel"))));
    box.addEventListener("close", () => {
      const values = Object.fromEntries(fields.map((field, i) => [field.key, inputs[i].value]));
      box.remove();
      resolve(box.returnValue === "yes" ? values : null);
    });
    document.body.append(box);
    box.showModal();
  });
}

// Shows a command with its request, asks for what it needs, and gives it. `many`: a query; the dry
// run's number is asked first.
async function act(action) {
  const body = { ...action.body };
  let touched = null;
  if (action.many) {
    const trial = await request("POST", "/v1/" + action.path, { ...body, dry_run: true });
    touched = trial.touched;
  }
  const words = () => command(action.words);
  const values = await dialog(action.title,
    [touched !== null && el("p", {}, `${count(touched)} ${touched === 1 ? "job matches" : "jobs match"}.`),
      el("p", {}, el("code", {}, words())), el("p", {}, el("code", {}, curl(action.path, body)))],
    action.fields || [], action.accept || action.title, action.bad);
  if (!values) return;
  for (const field of action.fields || [])
    if (values[field.key] !== "") body[field.key] = field.type === "number" ? Number(values[field.key]) : values[field.key];
  const done = await request("POST", "/v1/" + action.path, body);
  say(done && done.batch ? `batch ${done.batch} does it` : `${action.title}: done`);
  await show();
}

const button = (label, action, kind) => el("button", {
  type: "button", class: kind, "data-key": "act-" + label,
  onclick: () => act(action).catch(fail),
}, label);

function fail(error) {
  if (error.status === 401) return signIn();
  dialog("It was refused", el("p", { class: "error" }, error.message), [], "Close");
}

// ---- tables ----

// columns: { title, right, less, cell(row) }. options: caption, key(row), open(row), empty.
function table(columns, list, options) {
  if (!list.length) return el("p", { class: "empty" }, options.empty || "None.");
  const cell = (column, row) => el("td", {
    class: [column.right && "right", column.less && "less", column.wraps && "wraps"].filter(Boolean).join(" ") || null,
  }, column.cell(row));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption },
    el("table", {},
      el("caption", { class: "unseen" }, options.caption),
      el("thead", {}, el("tr", {}, columns.map(column => el("th", {
        scope: "col", class: [column.right && "right", column.less && "less"].filter(Boolean).join(" ") || null,
      }, column.head ? column.head() : column.title)))),
      el("tbody", {}, list.map(row => el("tr", { "data-row": options.key ? options.key(row) : null },
        columns.map(column => cell(column, row)))))));
}

const link = (path, text) => el("a", { href: "#/" + path, "data-key": path }, text);
const jobLink = id => link("job/" + id, String(id));

// ---- plots ----

const TICKS = 120, past = [];
let before = null;

// Keeps what was done between two looks at the counters, a second.
function remember(stats) {
  const now = { at: performance.now(), good: stats.metrics.successful, bad: stats.metrics.failed };
  if (before && now.at > before.at) {
    const seconds = (now.at - before.at) / 1000;
    past.push({ good: Math.max(0, now.good - before.good) / seconds, bad: Math.max(0, now.bad - before.bad) / seconds });
    if (past.length > TICKS) past.shift();
  }
  before = now;
}

function plot(series, label) {
  const most = Math.max(1, ...series.flatMap(one => one.values)) * 1.1;
  const line = values => values.map((value, i) =>
    `${i ? "L" : "M"}${(600 * (TICKS - values.length + i) / (TICKS - 1)).toFixed(1)} ${(140 - 130 * value / most).toFixed(1)}`).join("");
  return draw("svg", { class: "plot", viewBox: "0 0 600 150", preserveAspectRatio: "none", role: "img", "aria-label": label },
    [10, 75, 140].map(y => draw("line", { class: "grid", x1: 0, x2: 600, y1: y, y2: y })),
    series.map(one => draw("path", { class: one.kind, d: line(one.values) })));
}

// ---- drawings of processes ----

const middle = shape => [shape.x + shape.width / 2, shape.y + shape.height / 2];

function outline(shape) {
  const [x, y] = middle(shape), kind = `shape ${shape.form} ${shape.kind || ""}`;
  if (shape.form === "event") return draw("circle", { class: kind, cx: x, cy: y, r: shape.width / 2 });
  if (shape.form === "gateway")
    return draw("path", { class: kind, d: `M${x} ${shape.y}L${shape.x + shape.width} ${y}L${x} ${shape.y + shape.height}L${shape.x} ${y}z` });
  return draw("rect", { class: kind, x: shape.x, y: shape.y, width: shape.width, height: shape.height, rx: shape.form === "task" ? 9 : 3 });
}

// Words in lines of about so many characters.
function lines(text, most) {
  const list = [""];
  for (const word of String(text).split(/\s+/)) {
    const last = list[list.length - 1];
    if (last && last.length + word.length >= most) list.push(word);
    else list[list.length - 1] = last ? last + " " + word : word;
  }
  return list.slice(0, 3);
}

function caption(shape) {
  if (!shape.name) return null;
  const inside = shape.form === "task", top = shape.form === "scope" || shape.form === "pool" || shape.form === "lane";
  const list = lines(shape.name, inside ? 15 : 18), place = shape.label;
  const x = place ? place.x + place.width / 2 : middle(shape)[0];
  const y = inside ? middle(shape)[1] - (list.length - 1) * 7 : top ? shape.y + 14
    : place ? place.y + 7 : shape.y + shape.height + 12;
  return draw("text", { class: inside ? null : "label", x, y, "aria-hidden": "true" },
    list.map((line, i) => draw("tspan", { x, dy: i ? 14 : 0 }, line)));
}

function badge(x, y, number, kind) {
  const width = 14 + 7 * String(number).length;
  return [draw("rect", { class: kind, x: x - width / 2, y: y - 9, width, height: 18, rx: 9 }),
    draw("text", { class: "number", x, y: y + 1, "aria-hidden": "true" }, String(number))];
}

const GLYPHS = { exclusive: "×", parallel: "+", inclusive: "○", event: "⬠", complex: "✱" };

function shapeOf(shape, chosen, choose) {
  const stands = [shape.waiting || shape.count && `${shape.count} here`, shape.incidents && `incidents: ${shape.incidents}`].filter(Boolean);
  const title = [shape.name || shape.id || shape.kind, ...stands].join(", "); // its accessible name
  const can = shape.id && choose;
  return draw("g", {
    class: chosen === shape.id && can ? "chosen-one" : null, role: can ? "button" : null, tabindex: can ? "0" : null,
    "data-key": can ? "shape-" + shape.id : null, "data-shape": can ? shape.id : null,
    onclick: can ? () => choose(shape.id) : undefined,
    onkeydown: can ? event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); choose(shape.id); } } : undefined,
  }, draw("title", {}, title), outline(shape),
    shape.form === "gateway" && GLYPHS[shape.kind] && draw("text", { x: middle(shape)[0], y: middle(shape)[1] + 1, "aria-hidden": "true" }, GLYPHS[shape.kind]),
    caption(shape),
    shape.count && badge(shape.x + shape.width - 6, shape.y, shape.count, "many"),
    shape.incidents && badge(shape.x + 6, shape.y, shape.incidents, "trouble"));
}

function flowOf(line) {
  const points = line.points.map(point => point.join(" ")).join("L");
  const label = line.name && line.label;
  return [draw("path", { class: "flow " + (line.kind || ""), d: "M" + points, "marker-end": line.arrow ? "url(#tip)" : null }),
    label && draw("text", { class: "label", x: label.x + label.width / 2, y: label.y + 7 }, line.name)];
}

function drawing(picture, chosen, choose) {
  const size = shape => shape.form === "pool" || shape.form === "lane" || shape.form === "scope" || shape.form === "group" ? 0 : 1;
  const shapes = [...picture.shapes].sort((a, b) => size(a) - size(b) || b.width * b.height - a.width * a.height);
  return draw("svg", {
    class: "drawing", viewBox: `${picture.x - 12} ${picture.y - 16} ${picture.width + 24} ${picture.height + 32}`,
    width: picture.width + 24, role: "group", "aria-label": `diagram of ${picture.process}`,
  },
    draw("defs", {}, draw("marker", { id: "tip", markerWidth: 9, markerHeight: 9, refX: 8, refY: 4.5, orient: "auto" },
      draw("path", { class: "tip", d: "M0 0 9 4.5 0 9z" }))),
    shapes.filter(shape => !size(shape)).map(shape => shapeOf(shape, chosen, choose)),
    picture.lines.map(flowOf), shapes.filter(size).map(shape => shapeOf(shape, chosen, choose)));
}

// The next shape along the flows, or to the side of them.
function walk(picture, from, key) {
  const shape = id => picture.shapes.find(one => one.id === id);
  const ends = picture.lines.filter(line => key === "ArrowLeft" ? line.to === from : line.from === from)
    .map(line => shape(key === "ArrowLeft" ? line.from : line.to)).filter(Boolean);
  if (key === "ArrowRight" || key === "ArrowLeft") return ends[0] && ends[0].id;
  const here = shape(from), side = key === "ArrowDown" ? 1 : -1;
  const others = picture.shapes.filter(one => one.id && one.id !== from && (one.y - here.y) * side > 10)
    .sort((a, b) => Math.hypot(a.x - here.x, a.y - here.y) - Math.hypot(b.x - here.x, b.y - here.y));
  return others[0] && others[0].id;
}

function diagram(picture, chosen, choose) {
  const named = picture.shapes.filter(shape => shape.id && (shape.count || shape.incidents || shape.form === "task"));
  const svg = drawing(picture, chosen, choose);
  svg.addEventListener("keydown", event => {
    const at = event.target.closest("[data-shape]");
    const next = at && event.key.startsWith("Arrow") && walk(picture, at.dataset.shape, event.key);
    const found = next && svg.querySelector(`[data-shape="${CSS.escape(next)}"]`);
    if (!found) return;
    event.preventDefault();
    found.focus();
  });
  return [el("section", { class: "card scroll", tabindex: "0", role: "region", "aria-label": "Diagram" }, svg),
    el("section", { class: "card" }, el("h2", {}, "Activities"),
      table([
        { title: "Activity", cell: shape => el("button", { type: "button", "data-key": "activity-" + shape.id, "aria-pressed": String(chosen === shape.id), onclick: () => choose(shape.id) }, shape.name || shape.id) },
        { title: "Kind", less: true, cell: shape => shape.kind || "" },
        { title: "Here", right: true, cell: shape => count(shape.count) },
        { title: "Waits for", cell: shape => shape.waiting || "" },
        { title: "Incidents", right: true, cell: shape => count(shape.incidents) },
      ], named, { caption: "Activities", empty: "No activities." }))];
}

// ---- the filter line ----

const SPANS = { ">": ["min_priority", 1], "<": ["max_priority", -1], ">=": ["min_priority", 0], "<=": ["max_priority", 0] };

// "state:dead priority>50 payload.a.b=7" as filters of jobs.
function readFilter(text) {
  const filters = {};
  for (const word of text.match(/(?:[^\s"]|"[^"]*")+/g) || []) {
    const priority = word.match(/^priority(>=|<=|>|<)(-?\d+)$/);
    const payload = word.match(/^payload\.([^=]+)=(.*)$/);
    const pair = word.match(/^([a-z_]+):(.*)$/);
    const value = one => one.replaceAll('"', "");
    if (priority) filters[SPANS[priority[1]][0]] = String(Number(priority[2]) + SPANS[priority[1]][1]);
    else if (payload) filters.payload = `${payload[1]}=${value(payload[2])}`;
    else if (pair) filters[pair[1] === "error" ? "exception" : pair[1]] = value(pair[2]);
    else if (/^\d+$/.test(word)) filters.id = word;
    else filters.handler = value(word);
  }
  return filters;
}

const writeFilter = filters => Object.entries(filters).map(([key, value]) =>
  key === "payload" ? `payload.${value}` : key === "min_priority" ? `priority>=${value}`
    : key === "max_priority" ? `priority<=${value}` : `${key === "exception" ? "error" : key}:${/\s/.test(value) ? `"${value}"` : value}`).join(" ");

// As the table of verbs reads a query: numbers are numbers, lists are lists.
function asQuery(filters) {
  const whole = ["min_priority", "max_priority", "id", "batch", "deployment"];
  const made = {};
  for (const [key, value] of Object.entries(filters)) {
    if (key === "payload") {
      const [path, text] = [value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1)];
      made.payload = { [path]: /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text };
    } else made[key] = whole.includes(key) ? Number(value) : value.includes(",") ? value.split(",") : value;
  }
  return made;
}

const flagsOf = filters => Object.entries(filters).flatMap(([key, value]) => ["--" + key.replaceAll("_", "-"), value]);

// ---- screens: each answers elements ----

const selected = new Set();

const screens = {
  async ""() {
    const [stats, causes] = await Promise.all([ask("stats"), perhaps(rows("incidents/causes", { limit: 10 }), [])]);
    remember(stats);
    counts = { ...counts, jobs: STATES.reduce((sum, one) => sum + stats.jobs[one], 0), incidents: stats.open_incidents, executors: running(stats.executors) };
    const busy = stats.definitions.filter(one => STATES.some(key => one.counts[key]) || one.metrics.successful || one.metrics.failed);
    const last = past[past.length - 1] || { good: 0, bad: 0 };
    return [
      el("h1", {}, "Overview"), el("p", { class: "sub" }, `${running(stats.executors)} executors, ${count(stats.open_incidents)} open incidents`),
      stats.stalled && el("p", { class: "error" }, plain(stats.stalled)),
      el("div", { class: "tiles" }, STATES.map(one => el("a", { class: "tile " + one, href: "#/jobs?state=" + one, "data-key": "tile-" + one },
        state(one), el("strong", {}, count(stats.jobs[one])),
        el("small", {}, one === "ready" && stats.oldest_ready_age ? `oldest ${span(stats.oldest_ready_age * 1000)}` : "")))),
      el("div", { class: "two" },
        el("section", { class: "card" }, el("h2", {}, "Done per second"),
          el("p", { class: "sub" }, `${count(Math.round(last.good))} successful, ${count(Math.round(last.bad))} failed`),
          plot([{ kind: "ok", values: past.map(one => one.good) }, { kind: "bad", values: past.map(one => one.bad) }], "jobs done per second in the last minutes")),
        el("section", { class: "card" }, el("h2", {}, "Open incidents, by cause"), causeList(causes))),
      el("section", { class: "card" }, el("h2", {}, "Handlers"), table([
        { title: "Handler", cell: row => link("jobs?handler=" + encodeURIComponent(row.name), row.name) },
        ...STATES.map(one => ({ title: WORDS[one] || one, right: true, cell: row => count(row.counts[one]) })),
        { title: "successful", right: true, less: true, cell: row => count(row.metrics.successful) },
        { title: "failed", right: true, less: true, cell: row => count(row.metrics.failed) },
      ], busy, { caption: "Handlers and their jobs", empty: "No jobs yet. moonshift enqueue creates one." })),
      gapList(stats.gaps), rangeList(stats.executors),
    ];
  },

  async jobs(place) {
    const { after, ...filters } = place.query;
    const [page, numbers] = await Promise.all([
      ask("jobs", { ...filters, after, limit: 50, fields: "id,handler,state,priority,retries,lane,due,created,message" }),
      counts.jobs > MANY ? { count: null } : perhaps(ask("jobs/count", filters), { count: null })]);
    const list = page.items, without = { ...filters };
    delete without.state;
    $("#filter").value = writeFilter(filters);
    const to = more => "jobs" + query({ ...filters, ...more });
    const all = el("input", {
      type: "checkbox", "aria-label": "all on this page", "data-key": "all", onchange: event => {
        list.forEach(row => event.target.checked ? selected.add(row.id) : selected.delete(row.id));
        render();
      },
    });
    all.checked = list.length > 0 && list.every(row => selected.has(row.id));
    return [
      el("h1", {}, "Jobs"), el("p", { class: "sub" }, numbers.count === null ? "" : `${count(numbers.count)} match`),
      el("div", { class: "tools tabs", role: "group", "aria-label": "States" },
        [undefined, ...STATES].map(one => el("a", {
          href: "#/jobs" + query({ ...without, state: one }), "aria-current": filters.state === one ? "true" : null, "data-key": "tab-" + one,
        }, one ? WORDS[one] || one : "all"))),
      el("section", { class: "card" }, table([
        { head: () => all, cell: row => {
          const box = el("input", { type: "checkbox", "aria-label": `select job ${row.id}`, "data-key": "select-" + row.id,
            onchange: event => { event.target.checked ? selected.add(row.id) : selected.delete(row.id); render(); } });
          box.checked = selected.has(row.id);
          return box;
        } },
        { title: "Job", right: true, cell: row => jobLink(row.id) },
        { title: "Handler", cell: row => row.handler },
        { title: "State", cell: row => state(row.state) },
        { title: "Priority", right: true, less: true, cell: row => plain(row.priority) },
        { title: "Retries", right: true, less: true, cell: row => plain(row.retries) },
        { title: "Lane", less: true, cell: row => plain(row.lane) },
        { title: "Due", less: true, cell: row => time(row.due) },
        { title: "Created", less: true, cell: row => time(row.created) },
        { title: "Message", cell: row => plain(row.message) },
      ], list, { caption: "Jobs", key: row => "job/" + row.id, empty: "No job matches." }),
      page.next && el("p", {}, link(to({ after: page.next }), "Next page"))),
      chosenBar(list, filters, numbers.count),
    ];
  },

  async job(place) {
    const id = place.id;
    const [job, why, attempts] = await Promise.all([ask("jobs/" + id), perhaps(ask(`jobs/${id}/why`), null),
      perhaps(rows(`jobs/${id}/attempts`), [])]);
    const runs = attempts.filter(one => one.started), fields = Object.entries(job).filter(([key, value]) =>
      value !== null && !["id", "handler", "state", "stack", "lines", "message", "payload", "result"].includes(key));
    const lived = job.state !== "successful" && job.state !== "deleted";
    return [
      el("h1", {}, `Job ${id} `, el("span", { class: "chip" }, job.handler), " ", state(job.state)),
      el("p", { class: "sub" }, "created ", time(job.created), job.instance ? [", instance ", link("instance/" + encodeURIComponent(job.instance), job.instance)] : ""),
      why && el("div", { class: "why" }, why.text),
      lived && el("div", { class: "tools" }, jobButtons(`jobs/${id}`, { ids: [Number(id)] }, [String(id)])),
      el("section", { class: "card" }, el("h2", {}, "Runs"), timeline(job, runs), table([
        { title: "Run", right: true, cell: row => plain(row.attempt) },
        { title: "Outcome", cell: row => state(row.outcome) },
        { title: "Began", cell: row => time(row.started) },
        { title: "Took", right: true, cell: row => row.duration === null || row.duration === undefined ? "" : span(row.duration * 1000) },
        { title: "Executor", less: true, cell: row => plain(row.executor) },
        { title: "Next run", less: true, cell: row => time(row.due) },
        { title: "Message", wraps: true, cell: row => plain(row.message) },
      ], runs, { caption: "Runs of the job", empty: "It has not run yet." })),
      el("div", { class: "two" },
        el("section", { class: "card" }, el("h2", {}, "Last message, lines and stack"),
          el("pre", { tabindex: "0", "aria-label": "message, lines and stack" }, [job.message, linesOf(runs), job.stack].filter(Boolean).join("\n\n") || "Nothing was printed.")),
        el("section", { class: "card" }, el("h2", {}, "Fields"), el("dl", {},
          el("dt", {}, "payload"), el("dd", { class: "code" }, JSON.stringify(job.payload, null, 1)),
          job.result !== undefined && job.result !== null && [el("dt", {}, "result"), el("dd", { class: "code" }, JSON.stringify(job.result, null, 1))],
          fields.map(([key, value]) => [el("dt", {}, key.replaceAll("_", " ")), el("dd", {}, /T\d\d:\d\d/.test(value) ? time(value) : plain(value))])))),
    ];
  },

  async incidents() {
    const [causes, open] = await Promise.all([rows("incidents/causes", { limit: 100 }), rows("incidents", { open: "true", limit: 100, sort: "-id" })]);
    return [el("h1", {}, "Incidents"), el("p", { class: "sub" }, "Open ones, by cause. One cause is one type of one handler or schedule."),
      el("section", { class: "card" }, causeList(causes)),
      el("section", { class: "card" }, el("h2", {}, "Newest first"), table([
        { title: "Incident", right: true, cell: row => String(row.id) },
        { title: "Type", cell: row => row.type },
        { title: "Handler", cell: row => plain(row.handler) },
        { title: "Job", right: true, cell: row => row.job ? jobLink(row.job) : "" },
        { title: "Since", cell: row => time(row.created || row.first) },
        { title: "Message", wraps: true, cell: row => plain(row.message) },
        { head: () => el("span", { class: "unseen" }, "Actions"), cell: row => button("Resolve", {
          title: `Resolve incident ${row.id}`, path: `incidents/${row.id}/resolve`, words: ["incident", "resolve", String(row.id)],
          fields: [{ key: "note", label: "Note" }] }) },
      ], open, { caption: "Open incidents", key: row => row.job ? "job/" + row.job : "incidents", empty: "None is open." }))];
  },

  async schedules() {
    const list = await rows("schedules");
    return [el("h1", {}, "Schedules"), el("p", { class: "sub" }, "The next dates of a day from now on."),
      el("section", { class: "card" }, table([
        { title: "Name", cell: row => row.name },
        { title: "Handler", less: true, cell: row => row.handler },
        { title: "Cycle", cell: row => el("code", {}, plain(row.cycle)) },
        { title: "Zone", less: true, cell: row => plain(row.zone) },
        { title: "Next 24 hours", cell: row => day(row) },
        { title: "Last", cell: row => [time(row.last), " ", plain(row.outcome || row.last_outcome)] },
        { title: "Next", cell: row => row.paused ? "paused" : time(row.next) },
        { head: () => el("span", { class: "unseen" }, "Actions"), cell: row => [
          button("Run now", { title: `Run ${row.name} now`, path: `schedules/${name(row.name)}/run_schedule`, words: ["schedule", "run", row.name] }), " ",
          row.paused ? button("Resume", { title: `Resume ${row.name}`, path: `schedules/${name(row.name)}/resume_schedule`, words: ["schedule", "resume", row.name] })
            : button("Pause", { title: `Pause ${row.name}`, path: `schedules/${name(row.name)}/pause_schedule`, words: ["schedule", "pause", row.name] })] },
      ], list, { caption: "Schedules", empty: "The folder schedules nothing." }))];
  },

  async batches() {
    const list = await rows("batches", { sort: "-id", limit: 100 });
    return [el("h1", {}, "Batches"), el("p", { class: "sub" }, "One operation for many jobs or instances."),
      el("section", { class: "card" }, table([
        { title: "Batch", right: true, cell: row => String(row.id) },
        { title: "What", cell: row => row.type },
        { title: "By", less: true, cell: row => plain(row.who) },
        { title: "Progress", cell: row => progress(row) },
        { title: "Jobs", right: true, cell: row => count(row.total || row.jobs) },
        { title: "Failed", right: true, cell: row => count(row.failed) },
        { title: "State", cell: row => plain(row.state) },
        { head: () => el("span", { class: "unseen" }, "Actions"), cell: row => [
          Number(row.failed) > 0 && button("Retry failed", { title: `Retry failed jobs of batch ${row.id}`, path: `batches/${row.id}/retry_failed`, words: ["batch", "retry-failed", String(row.id)] }), " ",
          row.state === "suspended" ? button("Activate", { title: `Activate batch ${row.id}`, path: `batches/${row.id}/activate_batch`, words: ["batch", "activate", String(row.id)] })
            : row.state !== "completed" && button("Suspend", { title: `Suspend batch ${row.id}`, path: `batches/${row.id}/suspend_batch`, words: ["batch", "suspend", String(row.id)] })] },
      ], list, { caption: "Batches", empty: "No batch yet." }))];
  },

  async executors() {
    const [list, gaps] = await Promise.all([rows("executors"), rows("gaps")]);
    return [el("h1", {}, "Executors"), el("p", { class: "sub" }, "Who takes jobs, and what none of them takes."),
      el("section", { class: "card" }, table([
        { title: "Executor", cell: row => `${row.name}/${row.id}` },
        { title: "State", cell: row => state(row.state) },
        { title: "Workers", right: true, cell: row => row.topics ? "outside" : plain(row.workers) },
        { title: "Runs", right: true, cell: row => plain(row.running) },
        { title: "Locked", right: true, cell: row => plain(row.locked) },
        { title: "Seen", cell: row => time(row.seen) },
        { title: "Takes", less: true, cell: row => plain((row.topics || row.categories || ["all"]).join(", ")) },
        { head: () => el("span", { class: "unseen" }, "Actions"), cell: row => row.state === "draining"
          ? button("Resume", { title: `Resume ${row.name}`, path: `executors/${name(row.name)}/resume`, words: ["executor", "resume", row.name] })
          : button("Drain", { title: `Drain ${row.name}`, path: `executors/${name(row.name)}/drain`, words: ["executor", "drain", row.name] }) },
      ], list, { caption: "Executors", empty: "No executor runs." })),
      gapList(gaps), rangeList(list)];
  },

  async processes() {
    const list = await rows("processes", { limit: 1000 });
    return [el("h1", {}, "Processes"), el("p", { class: "sub" }, "As they are deployed."),
      el("section", { class: "card" }, table([
        { title: "Process", cell: row => link("process/" + encodeURIComponent(row.key), row.key) },
        { title: "Version", right: true, cell: row => plain(row.version) },
        { title: "Instances", right: true, cell: row => count(row.instances) },
        { title: "File", less: true, cell: row => plain(row.path) },
        { title: "State", cell: row => row.suspended ? state("suspended") : state("live") },
      ], list, { caption: "Processes", key: row => "process/" + encodeURIComponent(row.key), empty: "The folder has no process." }))];
  },

  async process(place) {
    const key = place.id, at = place.query.activity;
    const [picture, list] = await Promise.all([ask(`processes/${name(key)}/picture`),
      rows("process-instances", { process: key, activity: at, limit: 50, sort: "-id" })]);
    const choose = id => { location.hash = `/process/${encodeURIComponent(key)}${at === id ? "" : query({ activity: id })}`; };
    return [el("h1", {}, `${key} `, el("span", { class: "chip" }, `version ${picture.version}`)),
      el("p", { class: "sub" }, (picture.notes || []).join(", ")),
      el("div", { class: "tools" },
        button("Suspend", { title: `Suspend ${key}`, path: `processes/${name(key)}/suspend_process`, words: ["process", "suspend", key] }),
        button("Activate", { title: `Activate ${key}`, path: `processes/${name(key)}/activate_process`, words: ["process", "activate", key] })),
      diagram(picture, at, choose),
      el("section", { class: "card" }, el("h2", {}, at ? `Instances at ${at}` : "Instances"), instanceTable(list))];
  },

  async instance(place) {
    const id = place.id;
    const [why, picture, trail] = await Promise.all([ask(`process-instances/${id}/why`), perhaps(ask(`process-instances/${id}/picture`), null),
      perhaps(rows(`process-instances/${id}/trail`, { limit: 100, sort: "-id" }), [])]);
    const instance = why.instance, waits = why.why || [], at = place.query.activity;
    const choose = one => { location.hash = `/instance/${id}${at === one ? "" : query({ activity: one })}`; };
    return [el("h1", {}, `Instance ${id} `, el("span", { class: "chip" }, `${instance.process}, version ${instance.version}`), " ", state(instance.state)),
      el("p", { class: "sub" }, instance.key ? `key ${instance.key}, ` : "", "started ", time(instance.started),
        instance.parent ? [", called by ", link("instance/" + instance.parent, String(instance.parent))] : ""),
      el("div", { class: "why" }, waits.length ? waits.filter(one => !at || one.activity === at).map(one => el("p", {}, one.text, one.job ? [" ", jobLink(one.job)] : "")) : why.text || "It has ended."),
      el("div", { class: "tools" },
        button("Suspend", { title: `Suspend instance ${id}`, path: `instances/${id}/suspend_instance`, words: ["instance", "suspend", id] }),
        button("Activate", { title: `Activate instance ${id}`, path: `instances/${id}/activate_instance`, words: ["instance", "activate", id] }),
        button("Cancel", { title: `Cancel instance ${id}`, path: `process-instances/${id}/cancel`, words: ["process", "cancel", id], fields: [{ key: "reason", label: "Reason" }], bad: true }, "bad")),
      picture && diagram(picture, at, choose),
      el("div", { class: "two" },
        el("section", { class: "card" }, el("h2", {}, "Trail, newest first"), table([
          { title: "At", cell: row => time(row.at) },
          { title: "Job", right: true, cell: row => row.job ? jobLink(row.job) : "" },
          { title: "Events", wraps: true, cell: row => (row.events || []).map(event => event.join(" ")).join("; ") },
        ], trail, { caption: "Trail", empty: "Nothing is kept." })),
        el("section", { class: "card" }, el("h2", {}, "Variables"), el("dl", {},
          Object.entries(instance.variables || {}).map(([key, value]) => [el("dt", {}, key), el("dd", { class: "code" }, JSON.stringify(value))]))))];
  },

  async tasks() {
    const list = await rows("tasks", { limit: 100 });
    return [el("h1", {}, "Tasks"), el("p", { class: "sub" }, "What people have to do."),
      el("section", { class: "card" }, table([
        { title: "Task", right: true, cell: row => String(row.id) },
        { title: "Name", cell: row => plain(row.name || row.activity) },
        { title: "Instance", right: true, cell: row => link("instance/" + row.instance, String(row.instance)) },
        { title: "Assignee", cell: row => plain(row.assignee) },
        { title: "Candidates", less: true, cell: row => plain(row.candidates) },
        { title: "Due", less: true, cell: row => time(row.due) },
        { title: "Since", less: true, cell: row => time(row.created) },
        { head: () => el("span", { class: "unseen" }, "Actions"), cell: row => [
          button("Complete", { title: `Complete task ${row.id}`, path: `tasks/${row.id}/complete`, words: ["task", "complete", String(row.id)] }), " ",
          button("Claim", { title: `Claim task ${row.id}`, path: `tasks/${row.id}/set_assignee`, words: ["task", "claim", String(row.id), "--who", rights.who], fields: [{ key: "assignee", label: "For", needed: true }] })] },
      ], list, { caption: "User tasks", key: row => "instance/" + row.instance, empty: "No task is open." }))];
  },

  async history(place) {
    const { after, ...filters } = place.query;
    const page = await ask("log", { ...filters, after, limit: 50 });
    return [el("h1", {}, "History"), el("p", { class: "sub" }, "What became of runs, newest first."),
      el("section", { class: "card" }, table([
        { title: "At", cell: row => time(row.at) },
        { title: "Job", right: true, cell: row => jobLink(row.job) },
        { title: "Handler", cell: row => row.handler },
        { title: "Outcome", cell: row => state(row.outcome) },
        { title: "Run", right: true, less: true, cell: row => plain(row.attempt) },
        { title: "Took", right: true, less: true, cell: row => row.duration === null ? "" : span(row.duration * 1000) },
        { title: "Message or result", cell: row => plain(row.message || row.result) },
      ], page.items, { caption: "History", key: row => "job/" + row.job, empty: "Nothing has run yet." }),
      page.next && el("p", {}, link("history" + query({ ...filters, after: page.next }), "Next page")))];
  },

  async settings() {
    const [list, operations] = await Promise.all([perhaps(rows("settings"), []), perhaps(rows("operations", { limit: 50, sort: "-id" }), [])]);
    return [el("h1", {}, "Settings"), el("p", { class: "sub" }, `signed in as ${rights.who || "nobody"}`),
      el("section", { class: "card" }, table([
        { title: "Setting", cell: row => row.name },
        { title: "Value", wraps: true, cell: row => plain(row.text === undefined ? row.value : row.text) },
        { title: "From", less: true, cell: row => plain(row.origin || row.from) },
      ], list, { caption: "Settings", empty: "The scope admin sees the settings." })),
      el("section", { class: "card" }, el("h2", {}, "Who changed what"), table([
        { title: "At", cell: row => time(row.at) },
        { title: "Who", cell: row => plain(row.who) },
        { title: "Verb", cell: row => row.verb },
        { title: "On", cell: row => plain(row.entity) },
        { title: "Count", right: true, cell: row => count(row.count) },
      ], operations, { caption: "Operations", empty: "No operation yet." }))];
  },
};

// ---- parts of screens ----

// What runs have printed, the newest run last.
const linesOf = runs => [...runs].reverse().flatMap(run => run.lines || []).join("\n");

// The runs of a job between its creation and now, with the waits between them.
function timeline(job, runs) {
  if (!runs.length || !job.created) return null;
  const list = [...runs].reverse(), first = Date.parse(job.created);
  const last = Math.max(...list.map(run => Date.parse(run.at)), first + 1);
  const x = at => 20 + 860 * (Date.parse(at) - first) / (last - first);
  return draw("svg", { class: "times", viewBox: "0 0 900 60", role: "img", "aria-label": `${list.length} runs in ${span(last - first)}` },
    draw("line", { class: "base", x1: 20, x2: 880, y1: 24, y2: 24 }),
    draw("rect", { class: "created", x: 18, y: 10, width: 3, height: 28 }),
    list.map(run => draw("rect", { class: run.outcome, x: x(run.started), y: 10, width: Math.max(5, x(run.at) - x(run.started)), height: 28, rx: 3 },
      draw("title", {}, `run ${run.attempt}: ${run.outcome}`))),
    draw("text", { x: 20, y: 54 }, "created"), draw("text", { x: 880, y: 54, "text-anchor": "end" }, span(last - first)));
}

function causeList(causes) {
  return table([
    { title: "Open", right: true, cell: row => count(row.open || row.count) },
    { title: "Cause", wraps: true, cell: row => [row.type, row.message ? `: ${row.message}` : ""] },
    { title: "Handler", cell: row => row.handler ? link("jobs?state=dead&handler=" + encodeURIComponent(row.handler), row.handler) : plain(row.schedule) },
    { title: "Last", less: true, cell: row => time(row.last) },
  ], causes.filter(row => row.open !== 0), { caption: "Open incidents by cause", empty: "Nothing is wrong." });
}

function gapList(gaps) {
  if (!gaps || !gaps.length) return null;
  return el("section", { class: "card" }, el("h2", {}, "Gap watch"), table([
    { title: "What none takes", wraps: true, cell: row => row.text },
    { title: "Jobs", right: true, cell: row => count(row.count) + (row.more ? "+" : "") },
  ], gaps, { caption: "Jobs that no executor would take" }));
}

// Which priorities each executor takes, on one scale.
// Workers outside stand in the list, but nothing runs in them.
const running = executors => executors.filter(one => !one.topics).length;

function rangeList(executors) {
  const list = executors.filter(one => one.state !== "gone");
  if (!list.length) return null;
  const ends = list.flatMap(one => [one.priority_min, one.priority_max]).filter(end => end !== null && end !== undefined).map(Number);
  const low = Math.min(0, ...ends), high = Math.max(100, ...ends);
  const x = end => 600 * (end - low) / (high - low);
  return el("section", { class: "card" }, el("h2", {}, "Who takes which priorities"), table([
    { title: "Executor", cell: row => `${row.name}/${row.id}` },
    { title: "Priorities", cell: row => `${plain(row.priority_min) || "any"} to ${plain(row.priority_max) || "any"}` },
    { title: `${low} to ${high}`, cell: row => {
      const from = row.priority_min === null || row.priority_min === undefined ? 0 : x(row.priority_min);
      const to = row.priority_max === null || row.priority_max === undefined ? 600 : x(row.priority_max);
      return draw("svg", { class: "bar ranges", viewBox: "0 0 600 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        draw("rect", { x: from, width: Math.max(4, to - from), height: 8, rx: 4 }));
    } },
  ], list, { caption: "Ranges of priorities" }));
}

function progress(batch) {
  const total = Number(batch.total || batch.jobs) || 1, done = Number(batch.done || batch.completed || 0), failed = Number(batch.failed || 0);
  return draw("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": `${plain(batch.percent)} percent` },
    draw("rect", { class: "base", width: 100, height: 8, rx: 4 }),
    draw("rect", { class: "done", width: Math.min(100, batch.percent !== undefined && batch.percent !== null ? batch.percent : 100 * done / total), height: 8, rx: 4 }),
    failed > 0 && draw("rect", { class: "failed", x: 96, width: 4, height: 8 }));
}

function day(row) {
  const from = Date.now(), dates = (row.dates || [row.next]).filter(Boolean).map(date => Date.parse(date) - from).filter(ms => ms >= 0 && ms < 86400e3);
  return draw("svg", { class: "bar day", viewBox: "0 0 240 8", preserveAspectRatio: "none", role: "img", "aria-label": `${dates.length} dates in 24 hours` },
    draw("rect", { class: "base", y: 3, width: 240, height: 2 }),
    dates.map(ms => draw("rect", { class: "slot", x: ms / 86400e3 * 240, width: 2, height: 8 })));
}

function instanceTable(list) {
  return table([
    { title: "Instance", right: true, cell: row => link("instance/" + row.id, String(row.id)) },
    { title: "Key", cell: row => plain(row.key) },
    { title: "Version", right: true, less: true, cell: row => plain(row.version) },
    { title: "Started", cell: row => time(row.started) },
    { title: "Incidents", right: true, cell: row => count(row.incidents) },
    { title: "State", cell: row => row.suspended ? state("suspended") : state("live") },
  ], list, { caption: "Instances", key: row => "instance/" + row.id, empty: "None is here." });
}

// The verbs on jobs: of one, of those that are selected, or of all that match.
function jobButtons(path, target, words, many) {
  const one = path !== "jobs", body = one ? {} : target;
  const verb = (label, verb, word, more) => button(label, { title: label, path: `${path}/${verb}`, body, many, words: ["job", word, ...words], ...more }, more && more.kind);
  return [
    verb("Retry", "retry", "retry", { kind: "go" }),
    verb("Priority", "set_priority", "priority", { fields: [{ key: "priority", label: "Priority", type: "number", needed: true }] }),
    verb("Due", "set_due", "due", { fields: [{ key: "due", label: "Due, such as +1h or 2030-01-01T08:00", needed: true }] }),
    verb("Suspend", "suspend", "suspend"), verb("Activate", "activate", "activate"),
    verb("Cancel", "cancel", "cancel", { kind: "bad", bad: true }),
    verb("Delete", "delete", "delete", { kind: "bad", bad: true }),
  ];
}

function chosenBar(list, filters, total) {
  const ids = [...selected];
  const matching = Object.keys(filters).length > 0;
  if (!ids.length && !matching) return null;
  const many = !ids.length;
  return el("div", { class: "chosen", role: "region", "aria-label": "Actions" },
    el("span", {}, many ? `all ${total === null ? "" : count(total)} that match` : `${ids.length} selected`),
    jobButtons("jobs", many ? { query: asQuery(filters) } : { ids }, many ? flagsOf(filters) : ids.map(String), many),
    el("code", { class: "code" }, command(["job", "retry", ...(many ? [...flagsOf(filters), "--dry-run"] : ids.map(String))])));
}

// ---- navigation ----

const SCREENS = [["", "Overview", "o"], ["jobs", "Jobs", "j"], ["incidents", "Incidents", "i"], ["schedules", "Schedules", "s"],
  ["batches", "Batches", "b"], ["executors", "Executors", "e"], ["processes", "Processes", "p"], ["tasks", "Tasks", "t"],
  ["history", "History", "h"], ["settings", "Settings", "c"]];
const PARENT = { job: "jobs", process: "processes", instance: "processes" };
const MANY = 10000; // jobs in the store: what matches is not counted beyond
let counts = {}, contents = [], shown = "", paused = false, busy = false;

// An address that somebody has typed may have a per cent sign that stands for nothing.
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

// What the address shows: a screen, the thing on it, filters.
function place() {
  const [path, text = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [screen, ...rest] = path.split("/");
  return { screen, id: decoded(rest.join("/")), query: Object.fromEntries(new URLSearchParams(text)) };
}

function navigation(screen) {
  const at = PARENT[screen] || screen;
  $("#nav").replaceChildren(...SCREENS.map(([key, title, letter]) => el("a", {
    href: "#/" + key, "aria-current": key === at ? "page" : null, "aria-keyshortcuts": "g " + letter, "data-key": "nav-" + key,
  }, title, counts[key] ? el("b", { class: key === "incidents" ? "hot" : null }, count(counts[key])) : null)),
    el("a", { href: "/v1/openapi.json", "data-key": "nav-api" }, "API"), el("p", {}, rights.who ? `signed in as ${rights.who}` : ""));
}

// Puts the contents up; what had the focus has it again.
function put(elements) {
  const key = document.activeElement && document.activeElement.dataset.key;
  const row = $("tr.at") && $("tr.at").dataset.row;
  $("#main").replaceChildren(...elements.flat(9).filter(Boolean));
  const again = key && [...document.querySelectorAll("[data-key]")].find(one => one.dataset.key === key);
  if (again) again.focus({ preventScroll: true });
  const line = row && [...document.querySelectorAll("tr[data-row]")].find(one => one.dataset.row === row);
  if (line) line.classList.add("at");
}

async function show() {
  const at = place(), screen = screens[at.screen] ? at.screen : "";
  const fresh = location.hash !== shown;
  shown = location.hash;
  asked = Date.now();
  stale = false;
  if (fresh && screen !== "jobs") $("#filter").value = "";
  busy = true;
  try {
    contents = await screens[screen](at);
    if (location.hash !== shown) return;
    document.body.classList.remove("lost");
    put(contents);
    if (!paused) say("live");
  } catch (error) {
    if (error.status === 401) signIn();
    else if (error instanceof Refused) put([el("h1", {}, "It was refused"), el("p", { class: "error" }, error.message)]);
    else { document.body.classList.add("lost"); say("no answer"); }
  } finally {
    busy = false;
  }
  navigation(screen);
  document.title = `${$("#main h1") ? $("#main h1").textContent.trim() : "Moonshift"} · Moonshift`;
  if (fresh) { $("#main").focus({ preventScroll: true }); scrollTo(0, 0); }
}

// The same rows again, after a choice.
const render = () => show();

// ---- live ----

const EVENTS = ["job.failed", "incident.opened", "incident.closed", "batch.ended", "instance.ended", "executor.joined",
  "executor.left", "gap"];
let source = null, heard = 0, asked = 0, stale = false, figures = "";

// Events say that something is new; what is shown is asked for as ever.
function listen() {
  const wanted = Boolean(rights.who) && !paused && !document.hidden;
  if (source && (!wanted || source.readyState === EventSource.CLOSED)) {
    source.close();
    source = null;
  }
  if (source || !wanted) return;
  source = new EventSource(`/v1/events?kinds=stats,${EVENTS.filter(kind => kind !== "gap")}`);
  for (const kind of EVENTS) source.addEventListener(kind, () => { stale = true; });
  source.addEventListener("stats", event => {
    stale = stale || event.data !== figures;
    figures = event.data;
    heard = Date.now();
  });
}

// Without figures, as for a token of one tenant, it asks every other second.
function isOld() {
  const age = Date.now() - asked, told = Date.now() - heard < 3000;
  return stale || age >= (told ? 10000 : 2000);
}

// ---- signing in ----

let asking = false;

async function signIn() {
  if (asking) return;
  asking = true;
  try {
    const values = await dialog("Sign in", el("p", {}, "moonshift token create NAME --scope operate prints a token."),
      [{ key: "token", label: "Token", type: "password", needed: true }], "Sign in");
    if (values) await request("POST", "/v1/session", {}, { Authorization: "Bearer " + values.token });
  } catch (error) {
    await dialog("It was refused", el("p", { class: "error" }, error.message), [], "Close");
  }
  asking = false;
  await begin();
}

async function begin() {
  const key = location.hash.match(/^#key=([0-9a-f]+)$/);
  if (key) {
    history.replaceState(null, "", "/");
    await request("POST", "/v1/session", { key: key[1] }).catch(() => null);
  }
  rights = await request("GET", "/v1/session").catch(error => {
    if (error.status === 401) signIn();
    return { who: "" };
  });
  if (rights.who) await show();
}

// ---- keys, and the page's own controls ----

function toggle() {
  paused = !paused;
  document.body.classList.toggle("paused", paused);
  $("#pause").textContent = paused ? "Go on" : "Pause";
  say(paused ? "paused" : "live");
}

function step(by) {
  const list = [...document.querySelectorAll("tr[data-row]")], at = list.findIndex(row => row.classList.contains("at"));
  const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
  if (!next) return;
  list.forEach(row => row.classList.remove("at"));
  next.classList.add("at");
  next.scrollIntoView({ block: "nearest" });
}

function help() {
  dialog("Keys", el("dl", {}, [["/", "filter jobs"], ["g then a letter", SCREENS.map(one => `${one[2]} ${one[1]}`).join(", ")],
    ["j, k", "down, up"], ["Enter", "open the row"], ["x", "select the row"], ["r", "retry what is selected"],
    ["arrows", "walk along a diagram"], ["Space", "pause, go on"], ["?", "this list"]]
    .map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])), [], "Close");
}

let going = false;

function onKey(event) {
  const inside = event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
  if (inside || event.ctrlKey || event.altKey || event.metaKey) {
    if (event.key === "Escape" && event.target.id === "filter") event.target.blur();
    return;
  }
  const row = $("tr.at"), screen = SCREENS.find(one => one[2] === event.key);
  if (going) { going = false; if (screen) location.hash = "/" + screen[0]; return; }
  const onControl = event.target.closest("a, button, [role=button]");
  if (event.key === "/") { event.preventDefault(); $("#filter").focus(); $("#filter").select(); }
  else if (event.key === "?") help();
  else if (event.key === "g") going = true;
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "Enter" && row && !onControl) location.hash = "/" + row.dataset.row;
  else if (event.key === "x" && row) { const box = row.querySelector("input[type=checkbox]"); if (box) box.click(); }
  else if (event.key === "r") { const retry = $("[data-key=act-Retry]"); if (retry) retry.click(); }
  else if (event.key === " " && !onControl && event.target.type !== "checkbox") { event.preventDefault(); toggle(); }
}

function theme() {
  const root = document.documentElement;
  const light = root.dataset.theme ? root.dataset.theme === "light" : matchMedia("(prefers-color-scheme: light)").matches;
  root.dataset.theme = light ? "dark" : "light";
  localStorage.setItem("theme", root.dataset.theme);
}

addEventListener("hashchange", () => { selected.clear(); show(); });
addEventListener("keydown", onKey);
$("#pause").addEventListener("click", toggle);
$("#theme").addEventListener("click", theme);
$("#find").addEventListener("submit", event => {
  event.preventDefault();
  location.hash = "/jobs" + query(readFilter($("#filter").value));
  $("#filter").blur();
});
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");

setInterval(() => {
  listen();
  const still = paused || document.hidden || busy || selected.size > 0 || $("dialog[open]") || document.activeElement.id === "filter";
  if (!still && rights.who && isOld()) show();
}, 1000);

begin();
