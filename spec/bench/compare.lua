-- Runs `moonshift bench` and a yardstick in turn and prints what both reach, as ratios.
--
--   lua5.4 spec/bench/compare.lua PROGRAM YARDSTICK ROUNDS JOBS DIR
--
-- A ratio is taken within a round, where both ran in the same minutes; the table shows the medians
-- of the rounds, with the range in brackets.
local decode = require("moonshift.core").rules.decode

local program, yardstick, rounds, jobs, dir = table.unpack(arg)
rounds, jobs = tonumber(rounds), tonumber(jobs)

local function run(line)
  local pipe = assert(io.popen(line))
  local output = pipe:read("a")
  if not pipe:close() then
    io.stderr:write("failed: ", line, "\n")
    os.exit(1)
  end
  return output
end

-- The figures of `moonshift bench`.
local function ours(options, count)
  return decode(run(("%s bench --json --jobs %d --dir %s %s"):format(program, count or jobs, dir,
    options)))
end

-- The figures of the yardstick's line of key=value.
local function theirs(options)
  local figures = {}
  local output = run(("%s -q -m lock -f %s/yardstick.db %s"):format(yardstick, dir, options))
  for key, value in output:gmatch("(%w[%w_]*)=(%S+)") do
    figures[key] = tonumber(value) or value
  end
  return figures
end

local function least(number)
  return math.max(number // 1, 1)
end

-- One round: { none = …, full = …, yardstick = …, many = …, one = … }.
local function measure()
  local round = {}
  round.none = ours "--history none"
  local workers = " -w " .. round.none.workers
  round.yardstick = theirs(("-n %d -b 1000%s"):format(jobs, workers))
  round.full = ours "--history full --only drain"
  round.many = theirs(("-n %d -b 1 -p 16 -l 0%s"):format(least(jobs / 10), workers))
  round.one = theirs(("-n %d -b 1 -p 1 -l 0%s"):format(least(jobs / 40), workers))
  round.wide = theirs(("-n %d -b 1000 -y 2000 -l 0%s"):format(least(jobs / 10), workers))
  round.work = ours("--work", least(jobs / 5)).work
  return round
end

local function median(values)
  table.sort(values)
  local middle = #values // 2
  return #values % 2 == 1 and values[middle + 1] or (values[middle] + values[middle + 1]) / 2
end

-- A number that says enough.
local function show(value)
  if value >= 10000 then
    return ("%.1f k"):format(value / 1000)
  end
  return ((value >= 100 and "%.0f" or value >= 10 and "%.1f" or "%.3g"):format(value))
end

-- "median (least-most)" of what `pick` finds in each round; "" if it finds nothing.
local function spread(all, pick)
  local values = {}
  for i, round in ipairs(all) do
    values[i] = pick(round)
  end
  if #values == 0 then
    return ""
  end
  local middle = median(values)
  return ("%s (%s-%s)"):format(show(middle), show(values[1]), show(values[#values])), middle
end

local function us(name, part)
  return function(round)
    return round[part or "none"][name]
  end
end

local function their(name, part, factor)
  return function(round)
    local value = round[part or "yardstick"][name]
    return value and value * (factor or 1)
  end
end

-- { what, ours, theirs, target }: of the ratio, or, without theirs, of the figure; in brackets
-- what would be very good.
local rows = {
  { "drain, history none /s", us "drain_per_second", their "drain", "0.90 (1.5)" },
  { "drain, history full /s", us("drain_per_second", "full"), their "drain", "(1.5)" },
  { "history full against none", us("drain_per_second", "full"), us "drain_per_second",
    "0.8 (1.0)" },
  { "chains /s, against drain", us "chains_per_second", their "drain", "1.3 (2)" },
  { "whole life /s", us "life_per_second", their "both", "" },
  { "enqueue_many of 1000 /s", us "enqueue_bulk_per_second", their "enqueue", "0.8 (1.0)" },
  { "enqueue --from /s", us "enqueue_from_per_second", their "enqueue", "0.8 (1.0)" },
  { "enqueue, 1 client /s", us "enqueue_one_per_second", their("enqueue", "one"), "" },
  { "enqueue, 16 processes /s", us "enqueue_processes_per_second", their("enqueue", "many"),
    "0.5" },
  { "latency p50 ms", us "latency_p50_ms", nil, "<= 0.4 (0.25)" },
  { "latency p99 ms", us "latency_p99_ms", nil, "<= 3" },
  { "other process p50 ms", us "latency_process_p50_ms", nil, "<= 0.8 (0.5)" },
  { "other process p99 ms", us "latency_process_p99_ms", nil, "<= 5" },
  { "call to start p50 ms", us "latency_call_p50_ms", their("lat_p50_us", nil, 0.001), "" },
  { "call to start p99 ms", us "latency_call_p99_ms", their("lat_p99_us", nil, 0.001), "" },
  { "two workers against one", us "workers_speedup", us "workers_ceiling", ">= 1.8 (1.95)" },
  { "CPU s per 10 000, none", us "cpu_seconds_per_10000", their("drain_cpu_us", nil, 0.01), "" },
  { "CPU s per 10 000, full", us("cpu_seconds_per_10000", "full"),
    their("drain_cpu_us", nil, 0.01), "" },
  { "syncs per 10 000, none", us "syncs_per_10000", nil, "" },
  { "syncs per 10 000, full", us("syncs_per_10000", "full"), nil, "" },
  { "idle KB", us "idle_kb", nil, "<= 15 360" },
  { "idle % of a core", us "idle_cpu_percent", nil, "< 0.1" },
  { "peak KB", us "peak_kb", nil, "" },
}

-- What the yardstick does of the kinds of work: { run, figure }.
local same_work = {
  noop = { "yardstick", "drain" }, create = { "yardstick", "enqueue" },
  ["create-2k"] = { "wide", "enqueue" },
}

local function line(...)
  print((("| %-26s | %-26s | %-26s | %-19s | %-13s |"):format(...)))
end

local function print_row(all, row)
  local what, our, other, target = row[1], row[2], row[3], row[4]
  local ratio
  if other and other(all[1]) then
    ratio = spread(all, function(round)
      return our(round) / other(round)
    end)
  end
  line(what, (spread(all, our)), other and (spread(all, other)) or "", ratio or "", target)
end

local all = {}
for i = 1, rounds do
  io.stderr:write(("round %d of %d\n"):format(i, rounds))
  all[i] = measure()
end
local first = all[1].none
print(("%d jobs of %d bytes, %d workers, 10 priorities, synchronous=%s, %d rounds; yardstick: %s\n")
  :format(first.jobs, first.payload, first.workers, first.synchronous, rounds, yardstick))
line("what", "moonshift", "yardstick", "ratio", "target")
line(("-"):rep(26), ("-"):rep(26), ("-"):rep(26), ("-"):rep(19), ("-"):rep(13))
for _, row in ipairs(rows) do
  print_row(all, row)
end

local function work_line(...)
  print((("| %-26s | %-22s | %-22s | %-19s | %-8s | %-8s | %-7s |"):format(...)))
end

print()
work_line("work", "/s", "of a plain job", "of the yardstick", "CPU us", "log B", "syncs")
work_line(("-"):rep(26), ("-"):rep(22), ("-"):rep(22), ("-"):rep(19), ("-"):rep(8), ("-"):rep(8),
  ("-"):rep(7))
for i, row in ipairs(all[1].work) do
  local function of(name)
    return function(round)
      return round.work[i][name]
    end
  end
  local function middle(name)
    return show(select(2, spread(all, of(name))))
  end
  local same = same_work[row.kind]
  local against = same and spread(all, function(round)
    return round.work[i].per_second / round[same[1]][same[2]]
  end) or ""
  work_line(row.what, (spread(all, of "per_second")), (spread(all, of "ratio")), against,
    middle "cpu_us", middle "log_bytes", middle "syncs_per_10000")
end
