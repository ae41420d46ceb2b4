-- The files of a deployment, evaluated beside those of the folder. An instance of an earlier
-- version finds there what the folder has no longer.
local places = require "moonshift.process.places"
local show = require "moonshift.show"

local former = {}

local Former = {}
Former.__index = Former

-- The natives of a folder with other files: { { path, text }, … }.
local function natives_of(natives, files)
  local texts, paths = {}, {}
  for i, file in ipairs(files) do
    texts[file.path], paths[i] = file.text:gsub("^\xEF\xBB\xBF", ""), file.path
  end
  local own = { paths = paths }
  function own.load(path, env)
    return load(texts[path], "@" .. path, "t", env)
  end
  return setmetatable(own, { __index = natives }), texts
end

-- The value of a file; nil if there is none.
local function value_of(self, path)
  if self.values[path] == nil and self.texts[path] then
    self.values[path] = self.sandbox.run(path)
  end
  return self.values[path]
end

-- handler(names) -> the first function that is there, and its name; nil if none is
function Former:handler(names)
  for _, name in ipairs(names) do
    local path = places.file(name)
    local value = value_of(self, path)
    local run = value
    if type(value) == "table" then -- that of a topic may have nothing to run: workers outside do
      run = value.run
    end
    if type(run) == "function" then
      return run, name
    elseif run ~= nil then
      error(("%s: %s (expected a function)"):format(path, show(run)), 0)
    end
  end
end

-- bean(name) -> a table, or nil
function Former:bean(name)
  return value_of(self, ("beans/%s.lua"):format(name))
end

-- new(sandbox, natives, files): `sandbox` and `natives` are those of the folder. Has `env`, the
-- globals of its files.
function former.new(sandbox, natives, files)
  local self = setmetatable({ values = {} }, Former)
  natives, self.texts = natives_of(natives, files)
  self.sandbox = sandbox.beside(natives)
  self.env = self.sandbox.env
  return self
end

return former
