-- The README and the pages of docs/: their examples run, their links lead somewhere, and what they
-- list is all there is.
local core = require "moonshift.core"
local examples = require "spec.support.examples"
local pages = require "spec.support.pages"
local source = require "spec.support.source"

-- Those of programs beside Moonshift: spec/faults/outbox_spec.lua runs the SQL.
local LANGUAGES = { lua = true, sh = true, text = true, ini = true, sql = true, python = true,
  go = true, ruby = true, json = true, yaml = true }
local SKETCHES = 12 -- code that the suite cannot run, on all pages together

local all = pages.all()

-- Pages whose words are looked at.
local PROSE = { "docs/moonshift.1" }
for _, page in ipairs(all) do
  PROSE[#PROSE + 1] = page.path
end

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

  it("stand in the list of pages", function()
    local offenders, list = {}, pages.read("docs/README.md").text
    for _, page in ipairs(all) do
      local name = page.path:match("^docs/(%l[%l-]*%.md)$")
      if name and not list:find(("](%s)"):format(name), 1, true) then
        offenders[#offenders + 1] = name
      end
    end
    assert.same({}, offenders)
  end)

  it("name files and folders that are there", function()
    local offenders = {}
    for _, page in ipairs(all) do
      for path in page.text:gmatch("`([%w_./-]+)`") do
        local room = path:match("^(%l+)/")
        local ours = room and ("core lua spec scripts docs examples "):find(room .. " ", 1, true)
        if ours and room ~= "scripts" and not source.exists((path:gsub("/$", ""))) then
          offenders[#offenders + 1] = ("%s: %s"):format(page.path, path)
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

describe("the pictures", function()
  local pictures = source.files("docs", "%.svg$")

  -- What a reader of the picture sees: the words between its tags.
  local function words(path)
    return (source.read(path):gsub("<style>.-</style>", ""):gsub("<[^>]*>", "\n"))
  end

  it("can be read aloud, in light and in dark, and load nothing", function()
    local offenders = {}
    for _, path in ipairs(pictures) do
      local text = source.read(path)
      for _, wanted in ipairs { "<title id=", "<desc id=", "<text", 'role="img"', "viewBox=",
        "@media (prefers-color-scheme: dark)" } do
        if not text:find(wanted, 1, true) then
          offenders[#offenders + 1] = ("%s: no %s"):format(path, wanted)
        end
      end
      for _, foreign in ipairs { "href", "<script", "<image", "@import", "url%([^#]" } do
        if text:find(foreign) then
          offenders[#offenders + 1] = ("%s: %s"):format(path, foreign)
        end
      end
    end
    assert.same({}, offenders)
    assert.is_true(#pictures >= 2)
  end)

  it("give every class a colour for the dark", function()
    local offenders = {}
    for _, path in ipairs(pictures) do
      local style = source.read(path):match("<style>(.-)</style>")
      local light, dark = style:match("^(.-)@media %b() (%b{})")
      for class, rule in light:gmatch("%.(%l+) (%b{})") do
        if rule:find("#%x%x%x") and not dark:find("." .. class .. " {", 1, true) then
          offenders[#offenders + 1] = ("%s: %s"):format(path, class)
        end
      end
    end
    assert.same({}, offenders)
  end)

  it("are shown by a page", function()
    local shown = {}
    for _, page in ipairs(all) do
      for _, link in ipairs(page.links) do
        shown[link.target:match("[^/]*$")] = true
      end
    end
    for _, path in ipairs(pictures) do
      assert.is_true(shown[path:match("[^/]*$")], path)
    end
  end)

  it("have every state that a job can have", function()
    local states = pages.read("docs/concepts.md").text:match("\n## States\n(.-)\n## ")
    local picture, count = words("docs/states.svg"), 0
    for state in states:match("\n| state |.-\n\n"):gmatch("\n| `(%l+)` |") do
      count = count + 1
      assert.truthy(picture:find("\n" .. state .. "\n", 1, true), state)
    end
    assert.equal(6, count)
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
        assert.truthy(text:find("\nHome:\n\n%- `[%w_./]+`"), "home of " .. number)
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
      for path in (text:match("\nHome:\n(.-)\nProof: ") or ""):gmatch("`([%w_./]+%.%w+)`") do
        if not named(path)[number] then
          offenders[#offenders + 1] = ("%s of §%d"):format(path, number)
        end
      end
    end
    assert.same({}, offenders)
  end)
end)

describe("docs/changelog.md", function()
  local page = pages.read("docs/changelog.md").text

  it("begins with the version of the program", function()
    assert.equal(require("moonshift").version, page:match("\n## (%S+)\n"))
  end)

  it("has every schema of the store", function()
    local newest = 1
    for _, path in ipairs(source.files("core/store", "/upgrade_%d+%.sql$")) do
      newest = math.max(newest, tonumber(path:match("upgrade_(%d+)")))
    end
    for number = 1, newest do
      assert.truthy(page:find(("\n| %d | "):format(number), 1, true), "schema " .. number)
    end
    assert.is_nil(page:find(("\n| %d | "):format(newest + 1), 1, true))
  end)
end)

describe("docs/glossary.md", function()
  local page = pages.read("docs/glossary.md").text

  local function is_used(code, word)
    local pattern = "%f[%w]" .. word:gsub("[ -]", "[ _-]") .. "[esy]?"
    return code:find(pattern) ~= nil
  end

  it("has words that the tree uses, each once", function()
    local code, offenders, seen, count = {}, {}, {}, 0
    for _, path in ipairs(source.files("core lua", "%.%a+$")) do
      code[#code + 1] = source.read(path):lower():gsub("_", " ")
    end
    code = table.concat(code)
    for word in page:gmatch("\n| %*%*(.-)%*%* | ") do
      count = count + 1
      if seen[word] or not is_used(code, word) then
        offenders[#offenders + 1] = word
      end
      seen[word] = true
    end
    assert.same({}, offenders)
    assert.is_true(count >= 40, count .. " words")
  end)

  it("keeps words away that were given up", function()
    local offenders, given_up = {}, {}
    local list = page:match("\n## Words that were given up\n(.*)")
    for cell in list:gmatch("\n| (`.-) | ") do
      for word in cell:gmatch("`(%l+)`") do
        given_up[#given_up + 1] = word
      end
    end
    for _, path in ipairs(PROSE) do
      local number = 0
      for line in (pages.prose(path) .. "\n"):gmatch("([^\n]*)\n") do
        number = number + 1
        for _, word in ipairs(given_up) do
          if line:lower():find("%f[%l]" .. word .. "s?%f[%L]") then
            offenders[#offenders + 1] = ("%s:%d: %s"):format(path, number, word)
          end
        end
      end
    end
    assert.same({}, offenders)
    assert.is_true(#given_up > 10)
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

  it("is every verb, in the manual page too", function()
    local manual, offenders, count = source.read("docs/moonshift.1"), {}, 0
    local _, output = program.run { "help" }
    local function names(line, words)
      return line:find("Cm " .. words:gsub("%-", "%%-") .. "%f[^%l-]")
    end
    local function has(first, second)
      local title = ""
      for line in manual:gmatch("([^\n]*)\n") do
        title = line:match("^%.S[sh] (.*)") or title
        local own = title:find("%f[%l]" .. first .. "%f[^%l]")
        local both = (first .. " " .. second):gsub(" $", "")
        if names(line, both) or own and (second == "" or names(line, second)) then
          return true
        end
      end
      return false
    end
    for verb in output:gmatch("\n  (%l[%l-]* ?%l?[%l-]*) ") do
      local first, second = verb:match("^(%S+) ?(%S*)$")
      offenders[#offenders + 1] = not has(first, second) and verb or nil
      count = count + 1
    end
    assert.same({}, offenders)
    assert.is_true(count > 70, count)
  end)

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
    assert.truthy(output:find("\npage +auto +default"))
  end)

  it("is every column of a list, with its type", function()
    local sections, offenders = {}, {}
    local page = pages.read("docs/json.md").text
    for rows in page:gmatch("| column | type | meaning |(\n|.-\n)%f[^|\n]") do
      sections[rows] = select(2, rows:gsub("\n| `", ""))
    end
    local function has_all(rows, columns)
      for _, column in ipairs(columns) do
        if not rows:find(("\n| `%s` | %s | "):format(column[1], column[2]), 1, true) then
          return false
        end
      end
      return true
    end
    for kind, columns in pairs(core.columns()) do
      local found = false
      for rows, count in pairs(sections) do
        found = found or (count == #columns and has_all(rows, columns))
      end
      if not found then
        offenders[#offenders + 1] = kind
      end
    end
    assert.same({}, offenders)
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

  it("is, for monitoring, what the log and the figures have", function()
    local page, code, offenders, seen = pages.read("docs/monitoring.md").text, {}, {}, 0
    for _, path in ipairs(source.files("core", "%.c$")) do
      code[#code + 1] = source.read(path)
    end
    code = table.concat(code)
    for event, level in page:match("\n| `event`[^\n]*(.*)"):gmatch("\n| `([%l ]+)` | (%l+) |") do
      seen = seen + 1
      if not code:find(('log_event%%(LOG_%s, "%s"'):format(level:upper(), event)) then
        offenders[#offenders + 1] = ("%s (%s)"):format(event, level)
      end
    end
    local engine <close> = testing.engine { handlers = { show = function() end } }
    local stats = engine:stats()
    for group, name in page:gmatch("`(%l+)%.([%l_]+)`") do
      seen = seen + 1
      if stats[group] and stats[group][name] == nil then
        offenders[#offenders + 1] = group .. "." .. name
      end
    end
    assert.same({}, offenders)
    assert.is_true(seen >= 15, seen)
  end)

  it("is every verb of the command line, by example", function()
    local _, output = program.run({ "help" })
    local lines, seen, offenders, code = {}, {}, {}, shell_code()
    for first, second in output:gmatch("\n  (%l+) ?(%l*)") do
      seen[first] = (seen[first] or 0) + 1
      lines[#lines + 1] = { first, second }
    end
    for _, words in ipairs(lines) do
      local two = seen[words[1]] > 1 and words[2] ~= ""
      local verb = two and table.concat(words, " ") or words[1]
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
      getmetatable(executor).__index, debug.getmetatable(engine:jobs()).__index,
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
