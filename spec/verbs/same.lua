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

-- Variables of turns that have ended, and of what is remembered.
local function variable(entry)
  return not entry:find "/%?%." and not entry:find "/~" and entry or nil
end

local function history(line)
  local parts = {}
  for part in line:match "{(.*)}":gmatch "[^, ]+" do
    parts[#parts + 1] = part
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

local function plain(line)
  if line:find "^ *refused" then
    return "refused"
  elseif line:find "^history " then
    return history(line)
  end
  line = each_entry(without_ended(line), "jobs", job)
  line = each_entry(line, "subscriptions", subscription)
  return (each_entry(line, "vars", variable):gsub(" +$", ""))
end

-- Lines of calls between two others stand in no order.
local function ordered(lines)
  local list, calls = {}, {}
  for _, line in ipairs(lines) do
    if line:find "^call " then
      calls[#calls + 1] = line
    elseif not line:find "^ *job batch%-seed%-job" then -- how often a batch is seeded is its own
      table.sort(calls)
      table.move(calls, 1, #calls, #list + 1, list)
      calls = {}
      list[#list + 1] = plain(line)
    end
  end
  table.move(calls, 1, #calls, #list + 1, list)
  return list
end

-- The blocks of a trace: a command and what was seen.
local function blocks(lines)
  local list = { {} }
  for _, line in ipairs(ordered(lines)) do
    if line:find "^> " or line:find "^history " then
      list[#list + 1] = {}
    end
    table.insert(list[#list], line)
  end
  return list
end

-- compare(lines, wanted) -> how many of the lines agree, of how many, and those that do not as text
function same.compare(lines, wanted)
  local found, right, all, told = blocks(lines), 0, 0, {}
  for i, block in ipairs(blocks(wanted)) do
    local differs = false
    for n, line in ipairs(block) do
      all = all + 1
      local mine = found[i] and found[i][n]
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
