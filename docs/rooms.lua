-- Writes docs/rooms.svg: the rooms of core/ from the highest to the lowest, and the way of a job
-- through them: `make picture`. The rooms are those of spec/support/rooms.lua. Each step of the way
-- is held against the calls that the sources show.
--
--   lua5.4 docs/rooms.lua >docs/rooms.svg
--
-- As a module: page() -> the text of the picture.
local calls = require "spec.support.calls"
local rooms = require "spec.support.rooms"
local picture = {}

-- A step is a function and the steps that it calls, those in its own room left out. `through`: the
-- call goes through a table, by this name. `via`: it comes from this function, which is not shown.
-- `home`: its file, where the name alone does not say. `unit`: only a job of an instance takes it.
local ways = {
  { title = "moonshift enqueue", text = "one transaction",
    { "enqueue_run", { "engine_enqueue", { "sqlite_enqueue", through = "store_enqueue",
      { "store_create", { "place_ready_later" } },
      { "sqlite_commit", through = "store_commit" } } } } },
  { title = "the loop: a turn", text = "takes the job",
    { "runner_round", { "store_acquire", { "bulk_take" },
      { "frame_page_give", unit = true } }, { "client_submit" } } },
  { title = "a worker", text = "runs it",
    { "worker_run", { "script_run", { "read_unit", through = "walk_unit",
      home = "core/process/unit_read.c", unit = true } } } },
  { title = "the loop: the next turn", text = "settles it",
    { "runner_round", { "client_outcomes" }, { "store_settle",
      { "unit_write", unit = true, { "trail_write", unit = true } }, { "bulk_settle" } },
      { "sqlite_commit", through = "store_commit",
        { "bulk_before_commit", via = "transaction_before_commit",
          through = "flush" } } } },
}

-- Groups of rooms by the beginnings of their paths, highest first.
local bands = {
  { "faces", "core/cli", "core/lua", "core/bench", "core" },
  { "network", "core/http" },
  { "executor", "core/run" },
  { "engine", "core/engine" },
  { "Lua", "core/process", "core/script" },
  { "stores of a file, and on a server", "core/store/sqlite", "core/store/postgres" },
  { "rules of every store", "core/store/rules" },
  { "seam", "core/store/sql", "core/store" },
  { "ground", "core/job", "core/time", "core/base" },
}

-- Pixels.
local ROW, BAND, LEFT, BOXES, TOP, GAP, LETTER = 20, 26, 16, 216, 66, 18, 6.7

-- ---- the calls ----

-- The home of each name; and by "FILE NAME" of a function what it calls.
local function read_calls()
  local texts = calls.texts("core")
  local home, called = {}, {}
  calls.each(texts, function(path, by, to, name)
    home[name] = to
    if by then
      local key = path .. " " .. by
      home[by], called[key] = path, called[key] or {}
      called[key][name] = to
    end
  end)
  return { texts = texts, home = home, called = called }
end

local function folder_of(path)
  return path:match("^(.*)/")
end

-- The functions of its room that a function reaches, itself among them: "FILE NAME" = FILE.
local function reach(read, path, name, seen)
  local key = path .. " " .. name
  seen[key] = path
  for other, to in pairs(read.called[key] or {}) do
    if not seen[to .. " " .. other] and folder_of(to) == folder_of(path) then
      reach(read, to, other, seen)
    end
  end
  return seen
end

-- Is a member of a table of functions, or a variable, set to this function? Those of STORE_OPS are
-- set to the functions of each engine by their names.
local function is_set(read, member, name)
  local listed = read.texts["core/store/ops.h"]:find("[ (]" .. member .. ", %(")
  if listed and (name == "sqlite_" .. member or name == "postgres_" .. member) then
    return true
  end
  local pattern = ("%%f[%%w_]%s%%f[^%%w_][^;\n]-=%%s*%s%%f[^%%w_]"):format(member, name)
  for _, text in pairs(read.texts) do
    if text:find(pattern) then
      return true
    end
  end
  return false
end

local function goes_through(read, from, word, name)
  for _, path in pairs(from) do
    if read.texts[path]:find("%f[%w_]" .. word .. "%s*%(") then
      return is_set(read, word:gsub("^store_", ""), name)
    end
  end
  return false
end

local function check(read, step, by)
  local name, home = step[1], read.home
  home[name] = step.home or home[name]
  assert(home[name], name .. " is no function that calls one or is called")
  local from = by and reach(read, home[by], by, {}) or {}
  if step.via then
    check(read, { step.via }, by)
    from = reach(read, home[step.via], step.via, {})
  end
  local found = not by or step.through and goes_through(read, from, step.through, name)
  for key in pairs(from) do
    found = found or (read.called[key] or {})[name] ~= nil
  end
  assert(found, ("%s does not call %s"):format(by, name))
  for at = 2, #step do
    check(read, step[at], name)
  end
end

-- ---- the layout ----

local function band_of(folder)
  for at, band in ipairs(bands) do
    for i = 2, #band do
      if folder == band[i] or band[i] ~= "core" and folder:find(band[i] .. "/", 1, true) == 1 then
        return at
      end
    end
  end
  error(folder .. " is in no band of docs/rooms.lua")
end

-- Rows from the top: { band, y, { folder, … } }. The twins of the two engines share a row.
local function layout()
  local list, rows, of = {}, {}, {}
  for at = #rooms, 1, -1 do
    local folder = rooms[at][1]
    local key = folder:gsub("^core/store/%a+s?q?l?ite/", "core/store//"):gsub("postgres/", "/")
    local row = rows[key]
    if not row then
      row = { band = band_of(folder), order = #list }
      rows[key], list[#list + 1] = row, row
    end
    table.insert(row, 1, folder)
    of[folder] = row
  end
  table.sort(list, function(a, b)
    return a.band < b.band or a.band == b.band and a.order < b.order
  end)
  local y, band = TOP, 0
  for _, row in ipairs(list) do
    if row.band ~= band then
      y, band = y + BAND, row.band
    end
    row.y, y = y, y + ROW
  end
  return list, of, y
end

local function width_of(step)
  local inner = 0
  for at = 2, #step do
    inner = inner + width_of(step[at]) + (at > 2 and 6 or 0)
  end
  -- A child begins a little to the right, so that its line has room.
  step.width = math.max(#step[1] * LETTER + 12, #step > 1 and inner + 12 or 0)
  return step.width
end

-- ---- the text ----

local HEAD = [[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img"
     aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="12">
  <title id="title">The rooms of core/, and the way of a job through them</title>
  <desc id="desc">Rooms stand in rows, the highest on top. A job is created by moonshift enqueue,
    taken in a turn of the loop, run by a worker and settled in the next turn. Each bar is a
    function in the row of its room, and stands as long as what it calls. Calls go down. Broken
    lines are calls through a table or a variable that is set from above.</desc>
  <style>
    .band { fill: #f4f6f9; stroke: none }
    .row { stroke: #dfe4ea; stroke-width: 1 }
    .room { fill: #fff; stroke: #9aa7b8; stroke-width: 1 }
    .met { fill: #e8eef7; stroke: #2f5d9b }
    .name { fill: #1d2939 }
    .group { fill: #5a6675; font-size: 11px; font-weight: 600; letter-spacing: .04em }
    .head { fill: #1d2939; font-size: 13px; font-weight: 600 }
    .word { fill: #5a6675 }
    .job { fill: #2f5d9b }
    .unit { fill: #b4540a }
    .says { fill: #fff; font-size: 11px }
    .call { fill: none; stroke: #2f5d9b; stroke-width: 1.3 }
    .more { stroke: #b4540a }
    .table { stroke-dasharray: 3 3 }
    @media (prefers-color-scheme: dark) {
      .band { fill: #161b22 }
      .row { stroke: #262d36 }
      .room { fill: #0d1117; stroke: #5b6775 }
      .met { fill: #1c2a40; stroke: #7fa8e0 }
      .name { fill: #e6ebf2 }
      .head { fill: #e6ebf2 }
      .group { fill: #9aa7b8 }
      .word { fill: #9aa7b8 }
      .job { fill: #7fa8e0 }
      .unit { fill: #e8a05c }
      .says { fill: #0d1117 }
      .call { stroke: #7fa8e0 }
      .more { stroke: #e8a05c }
    }
  </style>
]]

local function put(out, form, ...)
  out[#out + 1] = ("  " .. form .. "\n"):format(...)
end

local function put_bands(out, list, width)
  local first = 1
  for at, row in ipairs(list) do
    local last = not list[at + 1] or list[at + 1].band ~= row.band
    if last then
      local top = list[first].y - BAND + 6
      put(out, '<rect class="band" x="8" y="%d" width="%d" height="%d" rx="8"/>', top, width - 16,
        row.y + ROW - top + 1)
      put(out, '<text class="group" x="%d" y="%d">%s</text>', LEFT, top + 13, bands[row.band][1])
      first = at + 1
    end
  end
end

local function put_rooms(out, list, met, width)
  for _, row in ipairs(list) do
    local wide = (BOXES - 4 * (#row - 1)) / #row
    put(out, '<path class="row" d="M%d %.1f H%d"/>', LEFT + BOXES + 8, row.y + ROW / 2, width - 16)
    for at, folder in ipairs(row) do
      local x = LEFT + (at - 1) * (wide + 4)
      local name = folder:gsub("^core/", ""):gsub("^store/(.)", "%1"):gsub("^core$", "main, host")
      put(out, '<rect class="room%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="4"/>',
        met[folder] and " met" or "", x, row.y + 1, wide, ROW - 3)
      put(out, '<text class="name" x="%.1f" y="%.1f">%s</text>', x + 7, row.y + 13.5, name)
    end
  end
end

local function put_step(out, step, x, y_of, above)
  local y = y_of(step[1])
  if above then
    local down = y > above
    put(out, '<path class="call%s%s" d="M%.1f %.1f V%.1f"/>', step.unit and " more" or "",
      step.through and " table" or "", x + 5, above + (down and ROW - 3 or 2),
      y + (down and 2 or ROW - 3))
  end
  put(out, '<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="3"/>',
    step.unit and "unit" or "job", x, y + 2, step.width, ROW - 5)
  put(out, '<text class="says" x="%.1f" y="%.1f">%s</text>', x + 6, y + 13.5, step[1])
  local inner = x + 12
  for at = 2, #step do
    put_step(out, step[at], inner, y_of, y)
    inner = inner + step[at].width + 6
  end
end

local function meet(read, step, met)
  met[folder_of(read.home[step[1]])] = true
  for at = 2, #step do
    meet(read, step[at], met)
  end
end

function picture.page()
  local read, met, out = read_calls(), {}, {}
  local list, of, bottom = layout()
  local width = LEFT + BOXES + 14
  for _, way in ipairs(ways) do
    check(read, way[1])
    meet(read, way[1], met)
    way.x, width = width, width + math.max(width_of(way[1]), #way.title * 7) + GAP
  end
  width = math.ceil(width + 4)
  put_bands(out, list, width)
  put_rooms(out, list, met, width)
  put(out, '<text class="head" x="%d" y="28">rooms</text>', LEFT)
  put(out, '<text class="word" x="%d" y="46">each knows those below it</text>', LEFT)
  for _, way in ipairs(ways) do
    put(out, '<text class="head" x="%.1f" y="28">%s</text>', way.x, way.title)
    put(out, '<text class="word" x="%.1f" y="46">%s</text>', way.x, way.text)
    put_step(out, way[1], way.x, function(name)
      return of[folder_of(read.home[name])].y
    end)
  end
  local y = bottom + 24
  put(out, '<rect class="job" x="%d" y="%d" width="14" height="10" rx="2"/>', LEFT, y - 9)
  put(out, '<text class="word" x="%d" y="%d">every job</text>', LEFT + 20, y)
  put(out, '<rect class="unit" x="%d" y="%d" width="14" height="10" rx="2"/>', LEFT + 100, y - 9)
  put(out, '<text class="word" x="%d" y="%d">besides, a job of an instance: its unit</text>',
    LEFT + 120, y)
  put(out, '<path class="call table" d="M%d %d H%d"/>', LEFT + 360, y - 4, LEFT + 390)
  put(out, '<text class="word" x="%d" y="%d">through what is set from above</text>', LEFT + 398, y)
  return HEAD:format(width, bottom + 40) .. table.concat(out) .. "</svg>\n"
end

if ... then
  return picture
end
io.write(picture.page())
