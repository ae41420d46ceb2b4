-- Numbers of weekdays in a cron text of six or seven fields, as names. In Quartz 1 is Sunday and 7
-- Saturday; here 0 and 7 are Sunday. A name means the same day to everybody.
local weekdays = {}

local NAMES = { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT" }
local WEEKDAY = 6 -- the field

weekdays.QUARTZ, weekdays.UNIX = 1, 0 -- the number of Sunday

-- The place in NAMES of a number or name; nil with a message for a number that is no day.
local function place_of(word, sunday)
  for place, name in ipairs(NAMES) do
    if word:upper() == name then
      return place
    end
  end
  local place = math.tointeger(tonumber(word) or 0.5)
  place = place and place - sunday + 1
  if place == 8 and sunday == weekdays.UNIX then
    return 1
  elseif not NAMES[place] then
    return nil, ("weekday %s is not in %d-7 (expected such a number or SUN-SAT)"):format(word,
      sunday)
  end
  return place
end

local function listed(from, to, step)
  local names = {}
  for place = from, to < from and to + 7 or to, step do
    names[#names + 1] = NAMES[(place - 1) % 7 + 1]
  end
  return table.concat(names, ",")
end

-- A range, with a step where one is given; Quartz goes round the end of the week.
local function range(from, to, step, sunday)
  local first, message = place_of(from, sunday)
  if not first then
    return nil, message
  end
  local last
  last, message = place_of(to, sunday)
  if not last then
    return nil, message
  elseif step ~= "" or last < first then
    return listed(first, last, math.max(1, tonumber(step) or 1))
  end
  return NAMES[first] .. "-" .. NAMES[last]
end

-- One part of the field, between its commas.
local function part(text, sunday)
  local from, to, step = text:match "^(%w+)%-(%w+)/?(%d*)$"
  if not from then
    from, step = text:match "^(%w+)/(%d+)$"
    to = from and "SAT"
  end
  if from then
    return range(from, to, step, sunday)
  elseif text:upper() == "L" and sunday == weekdays.QUARTZ then
    return "SAT"
  end
  local day, more = text:match "^(%d+)(.*)$"
  if not day then
    return text
  end
  local place, message = place_of(day, sunday)
  return place and NAMES[place] .. more, message
end

local function fields_of(text)
  local fields = {}
  for field in text:gmatch "%S+" do
    fields[#fields + 1] = field
  end
  return fields
end

-- named(text, sunday) -> the text with names; nil with a message for a number that is no weekday. A
-- text without such numbers stays as it is, and so does one that is no cron text of six or seven
-- fields.
function weekdays.named(text, sunday)
  local fields = fields_of(text)
  local days = fields[WEEKDAY]
  if not days or #fields > WEEKDAY + 1 or not (days:find "%d" or days:upper() == "L")
    or days:find "^[*?]" then
    return text
  end
  local parts = {}
  for one in (days .. ","):gmatch "([^,]*)," do
    local found, message = part(one, sunday)
    if not found then
      return nil, ('cron "%s": %s'):format(text, message)
    end
    parts[#parts + 1] = found
  end
  fields[WEEKDAY] = table.concat(parts, ",")
  return table.concat(fields, " ")
end

-- quartz(value) -> a text of Quartz in names, any other value as it is; raises for what is no day.
function weekdays.quartz(value)
  if type(value) ~= "string" then
    return value
  end
  local text, message = weekdays.named(value, weekdays.QUARTZ)
  return text or error(message, 0)
end

return weekdays
