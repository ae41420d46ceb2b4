-- What a turn of a large body costs, beside an instance of its own:
--
--   lua5.4 spec/bench/bodies.lua PROGRAM STORE COUNT…
--   lua5.4 spec/bench/bodies.lua build/moonshift sqlite:/tmp/bodies-{}.db 100 10000
--
-- "{}" in the name of the store is another word for each figure. A line is one shape and number of
-- turns: CPU of this side a turn in µs, beginning and end of the programs taken off, and the most
-- memory. With COUNTED=1 valgrind counts instructions instead, in thousands: those need no idle
-- machine. SHAPES="jobs calls tasks" says which.
local program, store = arg[1], arg[2]
local counts = { table.unpack(arg, 3) }
local counted = os.getenv "COUNTED"

local folder = io.popen("mktemp -d"):read("l")
local MODULE = "LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='build/lua/?.so;;' "

local WORDS = 'local step, task, _, _, _, _, call = require("moonshift.process").words()\n'
local EACH = '{ times = "${n}", parallel = true }'
local MODELS = {
  jobs = [[step "work" { run = "fine", async = true, exclusive = false, each = %s }]],
  calls = [[call "below" { process = "jobs-alone", each = %s }]],
  tasks = [[task "look" { each = %s }]],
}

local COMPLETE = [[
local engine = assert(require("moonshift").open { store = arg[1], scripts = arg[2] })
for _, id in ipairs(engine:tasks({}):ids(1000000)) do
  assert(engine:complete(id))
end
engine:close()]]

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

local function make_folder()
  os.execute(("mkdir -p %s/handlers %s/processes"):format(folder, folder))
  write("handlers/fine.lua", "return function() end")
  write("complete.lua", COMPLETE)
  for name, text in pairs(MODELS) do
    write("processes/" .. name .. ".lua", WORDS .. "return { " .. text:format(EACH) .. " }")
    write("processes/" .. name .. "-alone.lua", WORDS .. "return { "
      .. text:gsub(",? ?each = %%s", "") .. " }")
  end
end

local function run(line)
  local pipe = io.popen(line)
  local output = pipe:read("a")
  assert(pipe:close(), "failed: " .. line)
  return output
end

-- Runs a command: its instructions or µs, and KB of memory.
local function measure(line)
  if counted then
    run((MODULE .. "valgrind --tool=callgrind --callgrind-out-file=%s/calls --log-file=%s/log %s"
      .. " >/dev/null"):format(folder, folder, line))
    local text = run(("cat %s/log"):format(folder))
    return tonumber(text:match("Collected : (%d+)")) / 1000, 0
  end
  run((MODULE .. "/usr/bin/time -o %s/time -f '%%U %%S %%M' %s >/dev/null"):format(folder, line))
  local user, system, memory = run(("cat %s/time"):format(folder)):match("(%S+) (%S+) (%d+)")
  return (tonumber(user) + tonumber(system)) * 1e6, tonumber(memory)
end

local made = 0

-- What it costs to begin this many, and to bring them to their end.
local function figure(shape, count, alone)
  made = made + 1
  local url = store:gsub("{}", "b" .. made)
  local where = ("-C %s --store '%s'"):format(folder, url)
  local begin
  if alone then
    write("list", ("{}\n"):rep(count))
    begin = ("%s process start %s-alone --from %s/list %s"):format(program, shape, folder, where)
  else
    begin = ("%s process start %s n=%d %s"):format(program, shape, count, where)
  end
  run(("%s deploy %s --store '%s'"):format(program, folder, url))
  local drain = ("%s run %s --workers 2 --drain --store '%s' 2>/dev/null"):format(program, folder,
    url)
  local parts, memory = {}, 0
  local function add(line)
    local cost, peak = measure(line)
    parts[#parts + 1], memory = cost, math.max(memory, peak)
  end
  add(begin)
  add(drain)
  if shape == "tasks" then
    add(("lua5.4 %s/complete.lua '%s' %s"):format(folder, url, folder))
    add(drain)
  end
  local sum = 0
  for _, part in ipairs(parts) do
    sum = sum + part
  end
  local left = run(("%s instance list --json %s | head -c 100"):format(program, where))
  assert(not left:find('"id"'), "not at its end: " .. left)
  return sum, memory, parts
end

make_folder()
print(counted and "thousand instructions each" or "µs of CPU each, MB")
for shape in (os.getenv "SHAPES" or "jobs calls tasks"):gmatch "%S+" do
  local body0, alone0 = figure(shape, 1, false), figure(shape, 1, true)
  for _, count in ipairs(counts) do
    count = math.tointeger(tonumber(count))
    local body, memory, parts = figure(shape, count, false)
    local alone, memory2 = figure(shape, count, true)
    for i, part in ipairs(parts) do
      parts[i] = ("%.1f"):format(part / count)
    end
    print(("%-6s %7d  body %8.1f (%s)  alone %8.1f  ratio %.2f  memory %d / %d MB"):format(shape,
      count, (body - body0) / count, table.concat(parts, " "), (alone - alone0) / count,
      (body - body0) / (alone - alone0), memory // 1024, memory2 // 1024))
    io.stdout:flush()
  end
end
run("rm -rf " .. folder)
