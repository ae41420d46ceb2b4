-- The kinds of work that `moonshift bench --work` measures. Without `kind` it returns them as a
-- list; else it writes a file of so many jobs of that kind, for `enqueue --from`.
local asked = ... or {}

local PARTS = 50 -- lists of lines that differ
local WORDS = { "lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit" }

local function words(from, count)
  local list = {}
  for i = 1, count do
    list[i] = WORDS[(from * i) % #WORDS + 1]
  end
  return table.concat(list, " ")
end

-- About 100 bytes.
local function note(order)
  return ('{"order":%d,"to":"a%d@example.org","amount":%.2f,"note":"%s"}'):format(order,
    order % 10000, order % 1000 + 0.25, words(order, 4))
end

-- Makes orders of about so many bytes; prices have two digits behind the point, or are cents.
local function orders(size, price)
  local texts = {}
  local function lines(part)
    local list, length = {}, 0
    while length < size - 80 do
      local i = #list + 1
      list[i] = ('{"sku":"A-%06d","n":%d,"price":%s,"text":"%s"}'):format(part * i, i % 8 + 1,
        price:format((part * 7919 + i) % 99 + 0.75), words(part + i, 5))
      length = length + #list[i] + 1
    end
    return table.concat(list, ",")
  end
  return function(order)
    local part = order % PARTS
    texts[part] = texts[part] or lines(part)
    return ('{"order":%d,"customer":{"id":%d,"vip":false},"lines":[%s]}'):format(order,
      order % 1000, texts[part])
  end
end

local FRACTIONS, WHOLE = "%.2f", "%.0f"
local two_kb = orders(2000, FRACTIONS)

-- Keys of the order with this number, beside handler and payload.
local function by_priority(order)
  return (',"priority":%d'):format(order % 10)
end

local function in_lane(count)
  return function(order)
    return (',"lane":"k%d"'):format(order * 7919 % count)
  end
end

local function unique(order)
  return (',"unique":"u%d"'):format(order)
end

local function both(one, other)
  return function(order)
    return one(order) .. other(order)
  end
end

local function retries()
  return ',"retries":5'
end

-- share: of the jobs that are asked for; fails, dies, follows: of these, how many fail once, fail
-- for good, create another job; created: running them is not measured.
local kinds = {
  { kind = "noop", what = "no-op, 100 B, 10 priorities" },
  { kind = "sum", what = "reads 2 KB of JSON", handler = "sum", payload = two_kb, share = 0.5 },
  { kind = "sum-whole", what = "the same in whole numbers", handler = "sum",
    payload = orders(2000, WHOLE), share = 0.5 },
  { kind = "sum-50k", what = "reads 50 KB of JSON", handler = "sum",
    payload = orders(50000, FRACTIONS), share = 0.06 },
  { kind = "line", what = "prints one line", handler = "line" },
  { kind = "lines", what = "prints ten lines", handler = "lines", share = 0.3 },
  { kind = "rate", what = 'rate = "10000/PT0.1S"', handler = "rate" },
  { kind = "limit", what = "limit = 8", handler = "limit" },
  { kind = "fails", what = "half fail once", handler = "fails", share = 0.3, fails = 0.5 },
  { kind = "dies", what = "all die", handler = "dies", share = 0.2, dies = 1 },
  { kind = "lanes10", what = "10 lanes", keys = in_lane(10) },
  { kind = "lanes1000", what = "1000 lanes, 10 priorities",
    keys = both(by_priority, in_lane(1000)) },
  { kind = "everything", what = "everything at once", handler = "everything", payload = two_kb,
    keys = both(unique, in_lane(1000)), files = { "handlers/noop.lua", "priorities/ranked.lua" },
    share = 0.3, fails = 0.05, follows = 0.1 },
  { kind = "create", what = "created, 100 B, 10 priorities", created = true },
  { kind = "create-retries", what = "with retries", keys = both(by_priority, retries),
    created = true },
  { kind = "create-unique", what = "with unique keys", keys = both(by_priority, unique),
    created = true },
  { kind = "create-ranked", what = "with a priority function", handler = "ranked",
    keys = function() return "" end, files = { "priorities/ranked.lua" }, created = true },
  { kind = "create-2k", what = "with 2 KB", payload = two_kb, share = 0.5, created = true },
  { kind = "create-2k-unique", what = "with 2 KB and unique keys", payload = two_kb,
    keys = both(by_priority, unique), share = 0.5, created = true },
}

-- What is the same for most.
local function whole(kind)
  kind.handler = kind.handler or "noop"
  kind.files = kind.files or {}
  table.insert(kind.files, 1, ("handlers/%s.lua"):format(kind.handler))
  kind.keys, kind.payload = kind.keys or by_priority, kind.payload or note
  return kind
end

local function write(kind)
  local file <close> = assert(io.open(asked.path, "w"))
  for order = 1, asked.jobs do
    assert(file:write('{"handler":"', kind.handler, '"', kind.keys(order), ',"payload":',
      kind.payload(order), "}\n"))
  end
end

local list = {}
for i, kind in ipairs(kinds) do
  whole(kind)
  if kind.kind == asked.kind then
    write(kind)
  end
  kind.keys, kind.payload = nil, nil
  list[i] = kind
end
return list
