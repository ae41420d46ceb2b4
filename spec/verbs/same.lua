-- Compares two traces: what may differ is put aside first.
local same = {}

-- Lists whose entries are looked at one by one: "jobs [a, b]".
local function each_entry(line, title, change)
  return (line:gsub(" " .. title .. " (%b[])", function(list)
    local kept = {}
    for entry in (list:sub(2, -2) .. ", "):gmatch "(.-), %f[^ ]" do
      kept[#kept + 1] = change(entry)
    end
    table.sort(kept)
    return kept[1] and (" %s [%s]"):format(title, table.concat(kept, ", ")) or ""
  end))
end

-- Names of kinds of jobs are each engine's own.
local function job(entry)
  return (entry:gsub("^timer[%w-]*:", "timer:"))
end

-- How what is remembered for a compensation is shown is each engine's own.
local function subscription(entry)
  return not entry:find "^compensate:" and entry or nil
end

-- Variables of turns that have ended.
local function variable(entry)
  return not entry:find "/%?%." and entry or nil
end

-- What is remembered for a compensation, as "name=value".
local function remembered_in(line)
  local found = {}
  for entry in line:gmatch "/~[^,%]]*" do
    found[entry:match "([^.]*)$"] = true
  end
  return found
end

-- A trace has it at whatever activity stands there by then.
local function without_remembered(wanted, mine)
  local found = remembered_in(mine)
  local function other(entry)
    return not found[entry:match "([^./]*)$"] and entry or nil
  end
  local function own(entry)
    return not entry:find "/~" and entry or nil
  end
  return next(found) and each_entry(wanted, "vars", other) or wanted, each_entry(mine, "vars", own)
end

-- Whether link events are counted is each engine's own.
local function history(line, links)
  local parts = {}
  for part in line:match "{(.*)}":gmatch "[^, ]+" do
    parts[#parts + 1] = not links[part:match "^[^=(]+"] and part or nil
  end
  table.sort(parts)
  return "history " .. table.concat(parts, " ")
end

-- A turn that has ended stands beside the others, as if a job were behind it.
local function without_ended(line)
  local jobs = line:match " jobs (%b[])" or ""
  return (line:gsub("(#multiInstanceBody%b())", function(turns)
    return (turns:gsub(" ?~([%w_]+)", function(activity)
      return not jobs:find("[%[ ][%w-]+:" .. activity .. "[/,%]]") and "" or nil
    end))
  end))
end

local function plain(line, links)
  if line:find "^ *refused" then
    return "refused"
  elseif line:find "^history " then
    return history(line, links)
  end
  line = each_entry(without_ended(line), "jobs", job)
  line = each_entry(line, "subscriptions", subscription)
  return (each_entry(line, "vars", variable):gsub(" +$", ""))
end

-- Lines of calls between two others stand in no order.
local function ordered(lines, links)
  local list, calls = {}, {}
  for _, line in ipairs(lines) do
    if line:find "^call " then
      calls[#calls + 1] = line
    elseif not line:find "^ *job batch%-seed%-job" then -- how often a batch is seeded is its own
      table.sort(calls)
      table.move(calls, 1, #calls, #list + 1, list)
      calls = {}
      list[#list + 1] = plain(line, links)
    end
  end
  table.move(calls, 1, #calls, #list + 1, list)
  return list
end

-- The blocks of a trace: a command and what was seen.
local function blocks(lines, links)
  local list = { {} }
  for _, line in ipairs(ordered(lines, links)) do
    if line:find "^> " or line:find "^history " then
      list[#list + 1] = {}
    end
    table.insert(list[#list], line)
  end
  return list
end

-- compare(lines, wanted, links) -> how many of the lines agree, of how many, and those that do not
-- as text; `links` has the names of link events
function same.compare(lines, wanted, links)
  local found, right, all, told = blocks(lines, links), 0, 0, {}
  for i, block in ipairs(blocks(wanted, links)) do
    local differs = false
    for n, line in ipairs(block) do
      all = all + 1
      local mine = found[i] and found[i][n]
      if mine then
        line, mine = without_remembered(line, mine)
      end
      right = right + (mine == line and 1 or 0)
      if mine ~= line then
        told[#told + 1] = ("%s  - %s\n  + %s"):format(differs and "" or block[1] .. "\n", line,
          tostring(mine))
        differs = true
      end
    end
    if found[i] and #found[i] > #block then
      all = all + #found[i] - #block
      told[#told + 1] = ("%s\n  + %s"):format(block[1],
        table.concat(found[i], "\n  + ", #block + 1, #found[i]))
    end
  end
  return right, all, table.concat(told, "\n")
end

return same
