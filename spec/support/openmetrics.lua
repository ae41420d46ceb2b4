-- Reads figures as strictly as OpenMetrics 1.0 and Prometheus' text format 0.0.4 are written down.
-- The samples of a family stand together behind its type, with the suffixes of that, each once. The
-- classes of a histogram rise, and its count is the last of them.
local openmetrics = {}

local TYPES = { counter = true, gauge = true, histogram = true, info = true }

-- What may stand behind a family's name, by type and form.
local SUFFIXES = {
  counter = { open = { "_total" }, prometheus = { "" } },
  gauge = { open = { "" }, prometheus = { "" } },
  info = { open = { "_info" }, prometheus = {} },
  histogram = {
    open = { "_bucket", "_count", "_sum" }, prometheus = { "_bucket", "_count", "_sum" },
  },
}

local ESCAPES = { ["\\\\"] = "\\", ['\\"'] = '"', ["\\n"] = "\n" }

-- { name = value } of `{a="b",c="d"}`, and the same as one text without `le`.
local function labels_of(text)
  local labels, key, at = {}, {}, 1
  while at <= #text do
    local name, from = text:match('^([%a_][%w_]*)="()', at)
    assert(name, "no label: " .. text)
    assert(labels[name] == nil, "a label twice: " .. text)
    local to = from
    while text:sub(to, to) ~= '"' do
      assert(to <= #text, "no end of a value: " .. text)
      to = to + (text:sub(to, to) == "\\" and 2 or 1)
    end
    labels[name] = text:sub(from, to - 1):gsub("\\.", function(pair)
      return assert(ESCAPES[pair], "no escape: " .. pair)
    end)
    key[#key + 1] = name ~= "le" and text:sub(at, to) or nil
    at = to + 1
    assert(at > #text or text:sub(at, at) == ",", "no comma: " .. text)
    at = at + 1
  end
  return labels, table.concat(key, ",")
end

local function number_of(text)
  if text == "+Inf" then
    return math.huge
  end
  assert(text:find("^%-?%d+%.?%d*e?[+-]?%d*$"), "no number: " .. text)
  return assert(tonumber(text))
end

local function sample_add(family, line, form)
  local name, rest = line:match("^([%a_:][%w_:]*)(.*)$")
  assert(name, "no sample: " .. line)
  local inside, value = rest:match("^{(.*)} (%S+)$")
  if not inside then
    inside, value = "", rest:match("^ (%S+)$")
  end
  assert(value, "no value: " .. line)
  local suffix = name:sub(#family.name + 1)
  local fits = name:sub(1, #family.name) == family.name
  local allowed = table.concat(SUFFIXES[family.type][form], " ") .. " "
  assert(fits and (allowed:find(suffix .. " ", 1, true)), "another family's: " .. line)
  local labels, key = labels_of(inside)
  local sample = { suffix = suffix, labels = labels, key = key, value = number_of(value) }
  local same = suffix .. "{" .. inside
  assert(not family.seen[same], "twice: " .. line)
  family.seen[same] = true
  family.samples[#family.samples + 1] = sample
end

-- { buckets = { { bound, count }, … }, count, sum } by the labels but `le`.
local function histograms_of(family)
  local all = {}
  for _, sample in ipairs(family.samples) do
    local one = all[sample.key] or { buckets = {}, labels = sample.labels }
    all[sample.key] = one
    if sample.suffix == "_bucket" then
      one.buckets[#one.buckets + 1] = { number_of(sample.labels.le), sample.value }
    else
      one[sample.suffix:sub(2)] = sample.value
    end
  end
  for key, one in pairs(all) do
    local bound, count = -math.huge, 0
    for _, bucket in ipairs(one.buckets) do
      assert(bucket[1] > bound and bucket[2] >= count, "classes do not rise: " .. key)
      bound, count = bucket[1], bucket[2]
    end
    assert(bound == math.huge, "no +Inf: " .. key)
    assert(one.count == count and one.sum, "its count is not its last class: " .. key)
  end
  return all
end

local function family_begin(families, name, kind, help)
  assert(not families[name], "a family twice: " .. name)
  assert(TYPES[kind], "no type: " .. kind)
  assert(help == name, "its help is not before its type: " .. name)
  local family = { name = name, type = kind, samples = {}, seen = {} }
  families[name] = family
  return family
end

-- { family's name = { type, samples = { { labels, value }, … }, histograms } }. Raises what is
-- wrong. `form`: "open" or "prometheus".
function openmetrics.read(text, form)
  local families, family, help, ended = {}, nil, nil, false
  assert(text:sub(-1) == "\n", "no end of the last line")
  for line in text:gmatch("([^\n]*)\n") do
    assert(not ended, "behind the end: " .. line)
    local kind, name, rest = line:match("^# (%u+) ?(%S*) ?(.*)$")
    if kind == "EOF" then
      ended = true
    elseif kind == "HELP" then
      help = name
    elseif kind == "TYPE" then
      family = family_begin(families, name, rest, help)
    else
      assert(not kind, "no such line: " .. line)
      sample_add(assert(family, line), line, form)
    end
  end
  assert(ended == (form == "open"), "its end is of the other form")
  for _, one in pairs(families) do
    one.histograms = one.type == "histogram" and histograms_of(one) or nil
  end
  return families
end

-- The value of the family's sample with these labels; nil: there is none.
function openmetrics.value(families, name, labels)
  for _, sample in ipairs(families[name].samples) do
    local same = true
    for key, value in pairs(labels or {}) do
      same = same and sample.labels[key] == value
    end
    if same then
      return sample.value
    end
  end
end

return openmetrics
