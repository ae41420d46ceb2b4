-- What is wrong with a file, and what is doubtful: every problem with its line, column and id.
local report = {}

local Report = {}
Report.__index = Report

-- The id of an element of XML or of a node of a graph. An element without one is known by the
-- nearest around it (`within`).
local function id_of(at)
  return at.id or (at.attributes and at.attributes.id) or at.within
end

local function subject(at)
  local id = id_of(at)
  if id then
    return ('"%s": '):format(id)
  end
  return ""
end

local function entry(self, at, message)
  return {
    file = self.file,
    line = at.line,
    column = at.column,
    id = id_of(at),
    message = subject(at) .. message,
  }
end

-- Refuses the file because of the element or node `at`. A repeated problem is told once.
function Report:refuse(at, message)
  local one = entry(self, at, message)
  local key = ("%d:%d:%s"):format(one.line or 0, one.column or 0, one.message)
  if not self.seen[key] then
    self.seen[key] = true
    self.problems[#self.problems + 1] = one
  end
end

function Report:warn(at, message)
  self.warnings[#self.warnings + 1] = entry(self, at, message)
end

-- Warns of the first of a kind in this file.
function Report:warn_once(kind, at, message)
  if not self.seen[kind] then
    self.seen[kind] = true
    self:warn(at, message)
  end
end

-- Notes that the element or node calls the bean of this name.
function Report:needs(at, bean)
  self.beans[#self.beans + 1] = { at = at, name = bean }
end

-- new(file) -> a report { file, problems, warnings, beans }, the first two lists of { file, line,
-- column, id, message }, the last one of { at, name }.
function report.new(file)
  return setmetatable({ file = file, problems = {}, warnings = {}, beans = {}, seen = {} }, Report)
end

-- Lines first, then columns; of one place in the order in which they were found.
local function sorted(list)
  for i, one in ipairs(list) do
    one.number = i
  end
  table.sort(list, function(a, b)
    if a.line ~= b.line then
      return (a.line or 0) < (b.line or 0)
    elseif a.column ~= b.column then
      return (a.column or 0) < (b.column or 0)
    end
    return a.number < b.number
  end)
  for _, one in ipairs(list) do
    one.number = nil
  end
end

-- Puts problems and warnings in the order of the file.
function Report:sort()
  sorted(self.problems)
  sorted(self.warnings)
end

return report
