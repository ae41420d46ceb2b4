-- docs/bpmn.md says of every element and attribute what becomes of it.
local source = require "spec.support.source"
local vocabulary = require "moonshift.process.bpmn.vocabulary"

-- The sections of the page by their titles.
local function sections()
  local found, title = {}, ""
  for _, line in ipairs(source.lines "docs/bpmn.md") do
    title = line:match("^## (.*)") or title
    found[title] = (found[title] or "") .. line .. "\n"
  end
  return found
end

-- What a section says: names by their states, of its rows and of its list of what is ignored.
local function told(section)
  local found = {}
  for name, state in section:gmatch("\n| `(%w+)` | (%l+) |") do
    found[name] = state
  end
  local ignored = section:match("\nIgnored[^:]*: (.-)%.\n")
  for name in ignored:gmatch("`(%w+)`") do
    found[name] = "ignored"
  end
  return found
end

local function states(known)
  local found = {}
  for name, one in pairs(known) do
    found[name] = one.state
  end
  return found
end

describe("the page on BPMN", function()
  local page = sections()

  it("has every element of the standard", function()
    assert.same(states(vocabulary.elements), told(page["Elements of BPMN"]))
  end)

  it("has every attribute and element of the products", function()
    assert.same(states(vocabulary.extension_attributes), told(page["Attributes of the products"]))
    assert.same(states(vocabulary.extension_elements), told(page["Elements of the products"]))
  end)

  it("has the attributes of the standard, used and ignored", function()
    local rows = 0
    for name, used, ignored in page["Elements of BPMN"]:gmatch(
      "\n| `(%w+)` | %l+ | [^|]* | ([^|]*) | ([^|]*) |") do
      local found = {}
      for attribute in used:gmatch("`(%w+)`") do
        found[attribute] = "used"
      end
      for attribute in ignored:gmatch("`(%w+)`") do
        found[attribute] = "ignored"
      end
      assert.same(vocabulary.elements[name].attributes, found, name)
      rows = rows + 1
    end
    assert.is_true(rows > 50)
  end)

  local NODES = { name = "nodes", known = vocabulary.extension_attributes.jobPriority.on }

  -- The elements of a cell: `a`, `b`; "nodes" are those that a job priority may stand at.
  local function elements_in(cell)
    local found = {}
    for name in cell:gmatch("`(%w+)`") do
      found[name] = true
    end
    for name in pairs(cell:find(NODES.name, 1, true) and NODES.known or {}) do
      found[name] = name ~= "process" or cell:find("processes", 1, true) ~= nil or nil
    end
    return found
  end

  local function keys(set)
    local found = {}
    for name in pairs(set or {}) do
      found[name] = true
    end
    return found
  end

  it("has where the attributes of the products count", function()
    local rows = 0
    for name, state, cell in page["Attributes of the products"]:gmatch(
      "\n| `(%w+)` | (%l+) | ([^\n]-) |") do
      local known = vocabulary.extension_attributes[name]
      if state == "refused" then
        local instead = vocabulary.instead[name]
        assert.equal(instead and "expected: " .. instead or "everywhere", cell, name)
      else
        assert.same(keys(known.on), elements_in(cell), name)
      end
      rows = rows + 1
    end
    assert.is_true(rows > 40)
  end)

  it("has what lies in the elements of the products", function()
    local rows = 0
    for name, cell in page["Elements of the products"]:gmatch(
      "\n| `(%w+)` | [uk]%l+ | ([^\n]-) |") do
      local parts = vocabulary.extension_parts[name]
      local found = { attributes = {}, children = {} }
      for child in cell:gmatch("`<(%w+)[^`]*>`") do
        found.children[child] = true
      end
      for attribute in cell:match("^[^;]*"):gmatch("`(%w+)`") do
        found.attributes[attribute] = true
      end
      local used = {}
      for attribute, state in pairs(parts.attributes) do
        used[attribute] = state == "used" or nil
      end
      assert.same(used, found.attributes, name)
      assert.same(keys(parts.children), found.children, name)
      rows = rows + 1
    end
    assert.is_true(rows > 6)
  end)
end)
