-- Workers outside, as a spec has them: what they fetch and hand back through the module.
local outsiders = {}

-- new(current) -> { make, fetch, numbers, hand }; current() gives the engine of the moment.
function outsiders.new(current)
  local worker = {}

  -- make(n, options) -> the id of a new job of the topic "ocr" with this number
  function worker.make(n, options)
    return (assert(current():enqueue("topic/ocr", { n = n }, options)))
  end

  -- fetch(name, max, more) -> jobs of that topic, locked for a minute unless `more` says otherwise
  function worker.fetch(name, max, more)
    local given = { worker = name, topics = { "ocr" }, max = max or 10, lock = "PT1M" }
    for key, value in pairs(more or {}) do
      given[key] = value
    end
    return assert(current():fetch(given))
  end

  -- numbers(jobs) -> those that the jobs were made with
  function worker.numbers(jobs)
    local list = {}
    for i, job in ipairs(jobs) do
      list[i] = job.payload.n
    end
    return list
  end

  -- hand(job, outcome, more) hands one job back; the code and the words of a refusal, or nil.
  function worker.hand(job, outcome, more)
    local one = { id = job.id, token = job.token, outcome = outcome }
    for key, value in pairs(more or {}) do
      one[key] = value
    end
    local settled = assert(current():settle { outcomes = { one } })
    return settled.outcomes[1].code, settled.outcomes[1].message
  end

  return worker
end

return outsiders
