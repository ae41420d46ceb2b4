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
    for number = 1, 20 do
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
      local head = table.concat(source.lines(path), " ", 1, math.min(5, #source.lines(path)))
      for numbers in head:gsub("%s+%*?%s*", " "):gmatch("rules (§[%d §,]+)") do
        for number in numbers:gmatch("§(%d+)") do
          if not sections[tonumber(number)]:find("`" .. path .. "`", 1, true) then
            offenders[#offenders + 1] = ("%s in §%s"):format(path, number)
          end
        end
      end
    end
    assert.same({}, offenders)
  end)
end)
