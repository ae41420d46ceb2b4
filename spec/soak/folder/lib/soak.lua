-- Every run writes down when it began and how it ended.
local probe = require "probe"
local soak = {}

local function note(event, job)
  local payload = job.payload
  probe.write("H", event, job.id, job.attempt, job.token, job.priority, job.lane, job.due,
    job.retries, payload.body and probe.hash(payload.body),
    ("%s %s"):format(payload.m or "-", job.handler))
end

-- A handler of what `body` does; body may return another word for its end than "ok".
function soak.handler(body)
  return function(job)
    note("start", job)
    local fine, word = pcall(body, job, job.payload)
    note(fine and (word or "ok") or type(word) == "table" and word.word or "fail", job)
    if not fine then
      error(word, 0)
    end
  end
end

function soak.note(event, job, text)
  probe.write("H", event, job.id, job.attempt, job.token, job.priority, job.lane, job.due,
    job.retries, nil, text)
end

function soak.work(_, payload)
  probe.sleep(payload.ms or 0)
end

return soak
