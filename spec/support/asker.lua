-- Requests to the network face without a socket: spec/core/http/api/asker.c answers them.
local json = require("moonshift").json
local openapi = require "spec.support.openapi"
local process = require "spec.support.process"

local asker = {}

local program = (os.getenv("BUILD") or "build") .. "/spec/core/http/api/asker"

-- What the program says of its routes, asked for once.
local described

local function description(dir)
  if not described then
    described = {} -- while it is asked for
    described = asker.ask_all(dir, { { "GET", "/v1/openapi.json" } })[1].body
  end
  return described
end

-- Every answer of every spec is held against the description.
local function check(dir, requests, answers)
  local api = description(dir)
  for i, request in ipairs(requests) do
    local path = request[2]:match("^[^?]*")
    local wrong = api.paths and openapi.wrong(api, request[1], path, answers[i])
    assert(not wrong, wrong)
  end
end

-- Asks one request after the other over the store of the folder `dir`, with its scripts. A request
-- is { "GET", "/v1/jobs?state=dead", body, headers =, who =, raw = }. Returns their answers.
function asker.ask_all(dir, requests)
  local input, lines = os.tmpname(), {}
  for i, request in ipairs(requests) do
    local path, query = request[2]:match("^([^?]*)%??(.*)$")
    local pairs_of = json.array {}
    for name, value in query:gmatch("([^&=]+)=([^&]*)") do
      pairs_of[#pairs_of + 1] = { name, value }
    end
    lines[i] = assert(json.encode { method = request[1], path = path, query = pairs_of,
      body = request[3], raw = request.raw, headers = request.headers, who = request.who })
  end
  local file = assert(io.open(input, "wb"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local status, output, errors = process.run(("%s %s %s <%s"):format(process.quote(program),
    process.store(dir .. "/moonshift.db"), process.quote(dir), process.quote(input)))
  os.remove(input)
  assert(status == 0 and errors == "", errors)
  local answers = {}
  for line in output:gmatch("[^\n]+") do
    answers[#answers + 1] = assert(json.decode(line))
  end
  assert(#answers == #requests, output)
  check(dir, requests, answers)
  return answers
end

-- One request: its answer, with `status` and `body`.
function asker.ask(dir, request)
  return asker.ask_all(dir, { request })[1]
end

return asker
