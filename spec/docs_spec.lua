-- The README and the pages of docs/: their examples run, their links lead somewhere, and what they
-- list is all there is.
local examples = require "spec.support.examples"
local pages = require "spec.support.pages"
local source = require "spec.support.source"

local LANGUAGES = { lua = true, sh = true, text = true, ini = true }
local SKETCHES = 12 -- code that the suite cannot run, on all pages together

local all = pages.all()

local function each_block(visit)
  for _, page in ipairs(all) do
    for _, section in ipairs(page.sections) do
      for _, block in ipairs(section.blocks) do
        visit(page, block)
      end
    end
  end
end

for _, page in ipairs(all) do
  describe(page.path, function()
    local place

    setup(function()
      place = examples.place()
    end)

    teardown(function()
      place:remove()
    end)

    for _, section in ipairs(page.sections) do
      if examples.has_code(section) then
        it(("runs: %s"):format(section.heading), function()
          place:run(page, section)
        end)
      end
    end
  end)
end

describe("the pages", function()
  it("say of each block what it is", function()
    local offenders = {}
    each_block(function(page, block)
      if block.language and not LANGUAGES[block.language] then
        offenders[#offenders + 1] = ("%s:%d: %s"):format(page.path, block.line, block.language)
      elseif not block.language and not block.text:find("[├/]") then
        offenders[#offenders + 1] = ("%s:%d: no language"):format(page.path, block.line)
      end
    end)
    assert.same({}, offenders)
  end)

  it("show little that does not run", function()
    local count = 0
    each_block(function(_, block)
      count = count + (block.sketch and 1 or 0)
    end)
    assert.is_true(count <= SKETCHES, count .. " sketches")
  end)

  it("stand in both lists of pages", function()
    local offenders = {}
    for _, page in ipairs(all) do
      local name = page.path:match("^docs/(%l[%l-]*%.md)$")
      for path, link in pairs { ["README.md"] = "](docs/%s)", ["docs/README.md"] = "](%s)" } do
        if name and not pages.read(path).text:find(link:format(name), 1, true) then
          offenders[#offenders + 1] = ("%s: %s"):format(path, name)
        end
      end
    end
    assert.same({}, offenders)
  end)

  it("link to what is there", function()
    local by_path, offenders = {}, {}
    for _, page in ipairs(all) do
      by_path[page.path] = page
    end
    for _, page in ipairs(all) do
      for _, link in ipairs(page.links) do
        local file, anchor = link.target:match("^([^#]*)#?(.*)$")
        local path = file == "" and page.path or (page.path:match("^.*/") or "") .. file
        path = path:gsub("^docs/%.%./", "")
        local target = by_path[path]
        local fine = anchor == "" and source.exists(path) or target and target.anchors[anchor]
        if not file:find("^https?:") and not fine then
          offenders[#offenders + 1] = ("%s:%d: %s"):format(page.path, link.line, link.target)
        end
      end
    end
    assert.same({}, offenders)
  end)
end)

describe("docs/rules.md", function()
  local sections = {}

  -- The sections whose home a file says it is: "(rules §4)", "(rules §8; §1: the fence)".
  local function named(path)
    local numbers = {}
    for note in source.read(path):gsub("\n%s*%p*%s*", " "):gmatch("%(rules §[^)]*%)") do
      for number in note:gmatch("§(%d+)") do
        numbers[tonumber(number)] = true
      end
    end
    return numbers
  end

  setup(function()
    local number
    for line in pages.read("docs/rules.md").text:gmatch("([^\n]*)\n") do
      number = tonumber(line:match("^## §(%d+) ")) or number
      sections[number or 0] = (sections[number or 0] or "") .. line .. "\n"
    end
  end)

  it("names files that are there", function()
    local offenders = {}
    for _, text in pairs(sections) do
      for path in text:gmatch("`([%w_./]+/[%w_.]+%.%w+)`") do
        if not source.exists(path) then
          offenders[#offenders + 1] = path
        end
      end
    end
    assert.same({}, offenders)
  end)

  it("has a home and a proof for every section that is here", function()
    for number = 1, 21 do
      local text = assert(sections[number], number)
      if not text:find("\nNot here yet.", 1, true) then
        assert.truthy(text:find("\nHome: `[%w_./]+`"), "home of " .. number)
        assert.truthy(text:find("Proof: `spec/[%w_./]+`"), "proof of " .. number)
      end
    end
  end)

  it("lists every file that says whose home it is", function()
    local offenders = {}
    for _, path in ipairs(source.files("core lua scripts", "%.%a+$")) do
      for number in pairs(named(path)) do
        if not sections[number]:find("`" .. path .. "`", 1, true) then
          offenders[#offenders + 1] = ("%s in §%d"):format(path, number)
        end
      end
    end
    assert.same({}, offenders)
  end)

  it("lists homes that say so", function()
    local offenders = {}
    for number, text in pairs(sections) do
      for path in (text:match("\nHome: (.-)\nProof: ") or ""):gmatch("`([%w_./]+%.%w+)`") do
        if not named(path)[number] then
          offenders[#offenders + 1] = ("%s of §%d"):format(path, number)
        end
      end
    end
    assert.same({}, offenders)
  end)
end)

describe("what the pages list", function()
  local testing = require "moonshift.testing"
  local moonshift = require "moonshift"
  local program = require "spec.support.program"
  local rules = require("moonshift.core").rules

  local text = ""
  for _, page in ipairs(all) do
    text = text .. page.text
  end

  -- All code that runs in a shell, as one text.
  local function shell_code()
    local parts = {}
    each_block(function(_, block)
      if block.language == "sh" then
        parts[#parts + 1] = block.text
      end
    end)
    return table.concat(parts)
  end

  it("is every setting with its default", function()
    local settings = pages.read("docs/settings.md").text
    local own = { name = "the host's", who = "the user's", workers = "processors" }
    local offenders = {}
    local _, output = program.run({ "settings" }, { dir = "examples/hello" })
    for name, value in output:gmatch("\n([%w_]+) +(%S+) +default") do
      local row = ("\n| `%s` | %s |"):format(name, own[name] or ("`%s`"):format(value))
      if not settings:find(row, 1, true) then
        offenders[#offenders + 1] = row:sub(2)
      end
    end
    assert.same({}, offenders)
    assert.truthy(output:find("\npage +128 +default"))
  end)

  it("is every name of a setting elsewhere", function()
    local _, output = program.run({ "settings", "-C", "examples/hello", "--json" })
    local settings = pages.read("docs/settings.md").text
    local offenders = {}
    for _, setting in ipairs(rules.decode(output)) do
      for _, foreign in ipairs(setting.known_as) do
        local short = foreign:gsub("^jobExecutor", ""):gsub("^asyncExecutor", "")
        if not settings:find("`" .. foreign .. "`", 1, true)
          and not settings:find("`" .. short .. "`", 1, true) then
          offenders[#offenders + 1] = setting.name .. ": " .. foreign
        end
      end
    end
    assert.same({}, offenders)
  end)

  it("is every verb of the command line, by example", function()
    local _, output = program.run({ "help" })
    local lines, seen, offenders, code = {}, {}, {}, shell_code()
    for first, second in output:gmatch("\n  (%l+) ?(%l*)") do
      seen[first] = (seen[first] or 0) + 1
      lines[#lines + 1] = { first, second }
    end
    for _, words in ipairs(lines) do
      local verb = seen[words[1]] > 1 and table.concat(words, " ") or words[1]
      if not code:find("moonshift " .. verb .. "%f[%W]") then
        offenders[#offenders + 1] = verb
      end
    end
    assert.same({}, offenders)
    assert.is_true(#lines > 20)
  end)

  it("is every method and function of the module", function()
    local engine <close> = testing.engine { handlers = { show = function() end } }
    local executor = moonshift.executor { engines = { engine } }
    local objects = {
      moonshift, moonshift.clock, testing, getmetatable(engine).__index,
      getmetatable(executor).__index, getmetatable(engine:jobs()).__index,
      getmetatable(engine:definition("show")).__index, require("moonshift.job").methods {},
      getmetatable(engine:batch(engine:batch { type = "suspend", ids = { 1 } })).__index,
    }
    local offenders = {}
    for _, object in ipairs(objects) do
      for name in pairs(object) do
        if not name:find("^_") and not text:find("[.:]" .. name .. "%f[^%w_]") then
          offenders[#offenders + 1] = name
        end
      end
    end
    assert.same({}, offenders)
  end)
end)
