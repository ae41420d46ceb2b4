-- A graph as a tree in text.
local processes = require "spec.support.processes"
local load_of = require "moonshift.process.load"
local picture = require "moonshift.process.picture"
local report = require "moonshift.process.report"
local source = require "spec.support.source"

-- The picture of a process in words, a line for each row: "│ ├ id = text".
local function draw(text)
  local lines = {}
  for i, row in ipairs(picture(processes.graph(text))) do
    lines[i] = row.tree .. (row.id and row.id .. " = " .. row.text
      or row.to and "→ " .. row.to or row.text)
  end
  return table.concat(lines, "\n")
end

describe("a picture", function()
  it("has branches inside their gateway, and goes on where most of them meet", function()
    assert.equal([[
├ start = start
├ large = choose
│ ├ if ${amount > 9}
│ │ ├ approve = user task eve
│ │ └ fine = choose
│ │   ├ if ${fine}
│ │   │ └ → next
│ │   └ otherwise
│ │     └ refused = end
│ └ otherwise
├ next = join
├ pack = step pack, async
└ end = end]], draw [[return {
      choose "large" { join = "next",
        { when = "${amount > 9}", task "approve" { assignee = "eve" },
          choose "fine" { { when = "${fine}" },
            { otherwise = true, process.finish "refused" {} } } },
        { otherwise = true } },
      step "pack" { run = "pack", async = true },
    }]])
  end)

  it("has boundary events inside their host, and leads to what stands elsewhere", function()
    assert.equal([[
├ start = start
├ ask = user task
│ ├ ask.within = after PT1H
│ │ └ → again
│ └ ask.every = every R/PT10M, beside it
│   ├ hurry = step a function
│   └ ask.every.end = end
├ again = choose
│ ├ if a function
│ │ └ → ask
│ └ otherwise (enough)
│   └ → end
└ end = end]], draw [[return {
      task "ask" { within = { "PT1H", to = "again" },
        every = { "R/PT10M", step "hurry" { run = function() end } } },
      process.gateway "again" { kind = "exclusive", to = {
        { "ask", when = function() end }, { "end", default = true, name = "enough" } } },
      process.finish "end" {},
    }]])
  end)

  it("has what lies in scopes, with their turns and events", function()
    assert.equal([[
├ start = start
├ line = sub-process, for each of ${lines}
│ ├ line.start = start
│ ├ ship = call parcel, in turn for each of 3
│ │ └ ship.error = on error
│ │   └ lost = end terminate
│ └ line.end = end
├ fork = parallel
│ ├ branch
│ │ └ hear = receive message parcel
│ └ branch
│   └ told = receive, when triggered
├ fork.join = join
├ end = end
└ stop = event sub-process
  ├ stop.start = start message stop
  └ stop.end = end]], draw [[return {
      each "line" { of = "lines", parallel = true,
        call "ship" { process = "parcel", each = { times = 3 }, on_error = { stop = "lost" } } },
      parallel "fork" { { receive "hear" { message = "parcel" } }, { receive "told" {} } },
      process.handle "stop" { message = "stop", process.finish "stop.end" {} },
    }]])
  end)

  it("has every activity of a model once", function()
    local path = "examples/order-process/processes/order.bpmn"
    local told = report.new(path)
    local graph = load_of.graphs(path, source.read(path), nil, told, {})[1]
    local seen, count = {}, 0
    for _, row in ipairs(picture(graph)) do
      assert.is_nil(row.id and seen[row.id], row.id)
      seen[row.id or ""] = true
      count = count + (row.id and 1 or 0)
    end
    assert.equal(#graph.order, count)
  end)
end)
