-- Writes docs/api.md from what `moonshift help api --json` says: the table of routes as OpenAPI.
-- A spec requires this file; `make reference` runs it with the path of the program.
local core = require "moonshift.core"

local HEAD = [[
# The API over HTTP

Every request of `/v1`. This page is written by `make reference` from the table of routes in
`core/http/api/routes.c`; edit that. `moonshift help api` prints the table, and
`GET /v1/openapi.json` answers it as OpenAPI 3.1. [The network face](server.md) tells how a program
answers, and what its tokens may do.

A list is `{"items": […], "next": "…"}`; `after` takes the `next` of the page before. A refusal is
a problem (`application/problem+json`) with `code` and `detail`. `?` behind a name means that it
may be left out. A new job has the keys that `moonshift enqueue --from` reads.

```sh
moonshift init shop >init.log 2>&1
cd shop
moonshift serve . --http unix:shop.sock 2>serve.log &
until moonshift health --http unix:shop.sock --ready >health.log 2>&1; do sleep 0.1; done
ask() { curl -s --unix-socket shop.sock -w '\n' "$@"; }
ask -H 'Content-Type: application/json' -d '{"handler": "greet"}' http://localhost/v1/jobs
ask 'http://localhost/v1/jobs?handler=greet&fields=handler&limit=1'
ask -X POST http://localhost/v1/jobs/1/suspend
ask http://localhost/v1/jobs/7
kill $!
wait $!
```
```text
{"id":…,"outcome":"created"}
{"items":[{"handler":"greet"}],"next":…}
{"touched":1}
{"type":"/problems/not_found",…"detail":"no job 7","code":"not_found",…}
```
]]

local api = {}

local function keys(map)
  local list = {}
  for key in pairs(map or {}) do
    list[#list + 1] = key
  end
  table.sort(list)
  return list
end

local function type_of(schema)
  local name = (schema or {}).type
  if type(name) == "table" then
    name = table.concat(name, " or ")
  end
  return name and "`" .. name .. "`" or ""
end

local function row(out, name, needed, place, schema, says)
  says = says:gsub("|", "\\|")
  out[#out + 1] = ("| `%s%s` | %s | %s | %s |\n"):format(name, needed and "" or "?", place,
    type_of(schema), says)
end

local function write_body(out, body)
  local schema = body.content["application/json"].schema
  local needed = {}
  if not schema.properties then
    row(out, "the whole", body.required, "body", schema, "")
  end
  for _, name in ipairs(schema.required or {}) do
    needed[name] = true
  end
  for _, name in ipairs(keys(schema.properties)) do
    local one = schema.properties[name]
    row(out, name, needed[name], "body", one, one.description or "")
  end
end

local function statuses(responses)
  local list = {}
  for _, status in ipairs(keys(responses)) do
    list[#list + 1] = status ~= "default" and status or nil
  end
  return table.concat(list, ", ")
end

local function write_operation(out, method, path, operation)
  local scope = operation["x-scope"]
  out[#out + 1] = ("\n### `%s %s`\n\n%s Scope: %s. Answers: %s.\n"):format(method:upper(), path,
    operation.summary, scope ~= "" and "`" .. scope .. "`" or "none", statuses(operation.responses))
  local rows = {}
  for _, one in ipairs(operation.parameters) do
    row(rows, one.name, one.required, one["in"], one.schema, one.description)
  end
  if operation.requestBody then
    write_body(rows, operation.requestBody)
  end
  if #rows > 0 then
    out[#out + 1] = "\n| name | in | type | |\n|---|---|---|---|\n" .. table.concat(rows)
  end
end

-- The noun of a path: /v1/jobs/{id} is about jobs.
local function noun_of(path)
  return path:match("^/v1/([%w-]+)") or path:match("^/([%w-]+)")
end

-- The page, from the text of the description.
function api.page(text)
  local paths, out, noun = core.rules.decode(text).paths, { HEAD }, nil
  local list = keys(paths)
  table.sort(list, function(a, b)
    local left, right = noun_of(a), noun_of(b)
    return left < right or left == right and a < b
  end)
  for _, path in ipairs(list) do
    if noun_of(path) ~= noun then
      noun = noun_of(path)
      out[#out + 1] = ("\n## %s\n"):format(noun)
    end
    for _, method in ipairs(keys(paths[path])) do
      write_operation(out, method, path, paths[path][method])
    end
  end
  return table.concat(out)
end

-- What the program says of its routes.
function api.read(program)
  local pipe <close> = assert(io.popen(("'%s' help api --json"):format(program)))
  return pipe:read("a")
end

if ... == "docs.api" then
  return api
end
io.write(api.page(api.read(...)))
