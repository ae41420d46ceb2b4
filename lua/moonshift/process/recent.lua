-- Values that are made when they are asked for. Of many the ones that were asked for last are kept.
local recent = {}

local Recent = {}
Recent.__index = Recent

-- Forgets the value that was asked for longest ago, if there are too many.
local function make_room(self)
  if self.count < self.max then
    self.count = self.count + 1
    return
  end
  local oldest
  for key, entry in pairs(self.entries) do
    if not oldest or entry.used < self.entries[oldest].used then
      oldest = key
    end
  end
  self.entries[oldest] = nil
end

-- get(key) -> the value of `key`; raises what making it raises
function Recent:get(key)
  local entry = self.entries[key]
  if not entry then
    entry = { value = self.make(key) }
    make_room(self)
    self.entries[key] = entry
  end
  self.uses = self.uses + 1
  entry.used = self.uses
  return entry.value
end

-- new(max, make) -> values of which `max` are kept; make(key) makes one
function recent.new(max, make)
  return setmetatable({ max = max, make = make, count = 0, uses = 0, entries = {} }, Recent)
end

return recent
