-- The frame that the last walk of a Lua state has left, as records. Jobs of one work item follow
-- each other, and the next one goes on with these records instead of reading its frame.
--
-- The text decides: records are used for a frame that says byte for byte what was written of them.
-- So a unit that was refused, or behind, leaves nothing here that the store does not have.
local latest = {}

local TEXT_MAX = 65536 -- bytes of a frame whose records are kept
-- What reading a frame gives a record. A walk notes more in it, which ends with the walk.
local READ = { id = true, scope = true, at = true, state = true, more = true, vars = true,
  kids = true }

-- keep(w): remembers the frame of a walk that has written one instance.
function latest.keep(w)
  local context, inst = w.context, w.order[1]
  local text = inst and not w.order[2] and not inst.turn and w.unit.instances[1].frame
  local small = text and #text <= TEXT_MAX
  context.left_text, context.left_frame = small and text, small and inst.frame
end

-- Leaves of a record what reading its frame would give. False: that would be something else.
local function settle(record)
  if record.large or record.types or record.transient or record.counts
    or type(record.more) == "table" and record.state ~= "body" then
    return false
  end
  for name in next, record do
    if not READ[name] then
      record[name] = nil
    end
  end
  if record.vars and record.scope and next(record.vars) == nil then
    record.vars = nil
  end
  return true
end

-- take(context, text) -> the frame with this text, which is the caller's; nil: it has to be read
function latest.take(context, text)
  local f = context.left_text == text and context.left_frame
  if not f or f.has_data then
    return nil
  end
  context.left_text, context.left_frame = false, false
  local list, all = { nil, nil, nil, nil }, f.list
  for i = 1, #all do
    local record = all[i]
    if not record.gone then
      if not settle(record) then
        return nil
      end
      list[#list + 1] = record
    end
  end
  return { next = f.next, root = f.root, journal = f.journal, stuck = f.stuck, caller = f.caller,
    list = list, by = f.by, outer = f.outer }
end

return latest
