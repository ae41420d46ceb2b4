-- The standard's own rules of a BPMN file: known elements in their places, known attributes, ids
-- that are given once. What the products add is looked up, too (vocabulary.lua).
local elements = require "moonshift.process.bpmn.elements"
local origin = require "moonshift.process.bpmn.origin"
local rules = require "moonshift.rules"
local vocabulary = require "moonshift.process.bpmn.vocabulary"

local schema = {}

local INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
local MEANING = { startQuantity = "1", completionQuantity = "1", parallelMultiple = "false",
  instantiate = "false" } -- ignored, and nothing is lost while they have these values

local FLAGS = { ["true"] = true, ["false"] = true, ["1"] = true, ["0"] = true }

local Schema = {}
Schema.__index = Schema

local function meant(word, names, form)
  local found = rules.suggest(word, names)
  return found and (" (did you mean %s?)"):format(form:format(found)) or ""
end

local function tag(name)
  return ("<%s>"):format(name)
end

-- ---- ids ----

-- Blanks around an id, or around what refers to one, are not of it (XML Schema: collapse).
local function collapse_ids(element)
  local given = element.attributes
  for _, name in ipairs(given) do
    if name == "id" or name == "default" or name == "bpmnElement" or name:find("^%a+Ref$") then
      given[name] = elements.trim(given[name])
    end
  end
end

-- An element without an id is known by that of the element around it.
function Schema:collect_ids(element, within)
  collapse_ids(element)
  local id = element.attributes.id
  element.within = within
  if id and (elements.is_model(element) or element.ns == elements.DIAGRAM) then
    local first = self.ids[id]
    if first then
      self.report:refuse(element, ("the id is given twice (first in line %d)"):format(first.line))
    elseif not id:find("^[%a_\128-\255][%w_.%-\128-\255]*$") then
      self.report:refuse(element, "is no id (expected a letter or _, then letters, digits, _ . -)")
    end
    self.ids[id] = first or element
  end
  for _, child in ipairs(element.children) do
    self:collect_ids(child, id or within)
  end
end

-- ---- attributes ----

function Schema:check_value(element, name, value)
  local choices = vocabulary.choices[name]
  if vocabulary.flags[name] and not FLAGS[value] then
    self.report:refuse(element, ('%s="%s" (expected true or false)'):format(name, value))
  elseif choices and not (" " .. table.concat(choices, " ") .. " "):find(" " .. value .. " ", 1,
    true) then
    self.report:refuse(element, ('%s="%s" (expected %s)'):format(name, value,
      table.concat(choices, ", ")))
  elseif MEANING[name] and value ~= MEANING[name] then
    self.report:warn(element, ('%s="%s" is ignored'):format(name, value))
  end
end

function Schema:check_extension_attribute(element, name)
  local known = vocabulary.extension_attributes[name]
  if not known then
    self.report:warn(element, ('unknown attribute "%s" is ignored%s'):format(name,
      meant(name, vocabulary.names(vocabulary.extension_attributes), '"%s"')))
  elseif known.state == "refused" then
    self:refuse_attribute(element, name)
  elseif known.state == "ignored" then
    self.report:warn_once(name, element, ('the attribute "%s" is ignored'):format(name))
  elseif known.on and not known.on[element.name] then
    self.report:warn(element, ('the attribute "%s" means nothing in <%s>'):format(name,
      element.name))
  end
end

-- What only says more about another attribute that is refused is not told of.
function Schema:refuse_attribute(element, name)
  local value, of = elements.extension(element, name), vocabulary.says_more[name]
  local told = of and elements.extension(element, of)
  if value ~= "false" and value ~= "" and not told then
    self.report:refuse(element, ('the attribute "%s" is not supported (expected %s)'):format(name,
      vocabulary.instead[name] or "a process without it"))
  end
end

function Schema:check_attributes(element, known)
  for _, name in ipairs(element.attributes) do
    local ns, own = name:match("^(.*) ([^ ]*)$")
    if elements.is_extension(ns) then
      self:check_extension_attribute(element, own)
    elseif not ns and not known.attributes[name] then
      self.report:refuse(element, ('unknown attribute "%s"%s'):format(name,
        meant(name, vocabulary.names(known.attributes), '"%s"')))
    elseif not ns then
      self:check_value(element, name, element.attributes[name])
    elseif ns == INSTANCE and own == "type" and element.name == "conditionExpression"
      and elements.unqualified(element.attributes[name]) ~= "tFormalExpression" then
      self.report:refuse(element, ('xsi:type="%s" (expected tFormalExpression)'):format(
        element.attributes[name]))
    end
  end
  if known.wanted and not element.attributes[known.wanted] then
    self.report:warn(element, ('<%s> has no attribute "%s", which Camunda asks for'):format(
      element.name, known.wanted))
  end
  for _, name in ipairs(known.required or {}) do
    if not element.attributes[name] then
      self.report:refuse(element, ('<%s> has no attribute "%s"'):format(element.name, name))
    end
  end
end

-- ---- elements of the products ----

-- Those of the event registry, which say one thing of an activity together.
function Schema:refuse_registry(element)
  local owner = element.within or ""
  if not self.registry[owner] then
    self.report:refuse(element, ("<%s> is not supported (expected %s)"):format(element.name,
      vocabulary.instead[element.name] or "a process without the event registry"))
  end
  self.registry[owner] = true
end

function Schema:check_extension(element)
  local known = vocabulary.extension_elements[element.name]
  local held = vocabulary.extension_parts[element.name]
  if not known then
    self.report:warn(element, ("unknown element <%s> is ignored%s"):format(element.name,
      meant(element.name, vocabulary.names(vocabulary.extension_elements), "<%s>")))
  elseif known.state == "refused" then
    self:refuse_registry(element)
  elseif known.state == "ignored" then
    self.report:warn_once(tag(element.name), element, ("<%s> is ignored"):format(element.name))
  elseif held then
    self:check_parts(element, held)
  end
end

-- Warns of attributes and children that no product has in this element.
function Schema:check_parts(element, held)
  for _, name in ipairs(element.attributes) do
    if not name:find(" ", 1, true) and not held.attributes[name] then
      self.report:warn(element, ('unknown attribute "%s" of <%s> is ignored%s'):format(name,
        element.name, meant(name, vocabulary.names(held.attributes), '"%s"')))
    end
  end
  for _, child in ipairs(element.children) do
    local parts = vocabulary.extension_parts[child.name]
    if elements.is_extension(child.ns) and not held.children[child.name] then
      self.report:warn(child, ("unknown element <%s> in <%s> is ignored%s"):format(child.name,
        element.name, meant(child.name, vocabulary.names(held.children), "<%s>")))
    elseif elements.is_extension(child.ns) and parts then
      self:check_parts(child, parts)
    end
  end
end

-- ---- elements of the standard ----

-- True if the element is to be looked into. What refers to one that is refused is not told of.
function Schema:check_element(element, parent)
  local known = vocabulary.elements[element.name]
  element.refused = not known or known.state == "refused"
  if not known then
    self.report:refuse(element, ("<%s> is no element of BPMN 2.0%s"):format(element.name,
      meant(element.name, vocabulary.names(vocabulary.elements), "<%s>")))
  elseif parent and not parent.children[element.name] then
    self.report:refuse(element, ("<%s> does not belong here"):format(element.name))
  elseif known.state == "refused" then
    self.report:refuse(element, ("<%s> is not supported (expected %s)"):format(element.name,
      vocabulary.instead[element.name]))
  elseif known.state == "ignored" and not vocabulary.silent[element.name] then
    self.report:warn_once(tag(element.name), element, ("<%s> is ignored"):format(element.name))
  end
  return known and (known.state == "used" or known.state == "kept")
end

function Schema:check_content(element, known)
  local text = not known.text and element.text:match("%S[^\n]*")
  if text then
    self.report:refuse(element, ('the text "%s" does not belong into <%s>'):format(
      elements.trim(text), element.name))
  end
  if known.needs and not elements.child(element, known.needs) then
    self.report:refuse(element, ("<%s> has no <%s>"):format(element.name, known.needs))
  end
end

function Schema:walk(element, parent)
  if not self:check_element(element, parent) then
    return
  end
  local known = vocabulary.elements[element.name]
  self:check_attributes(element, known)
  self:check_content(element, known)
  for _, child in ipairs(element.children) do
    if elements.is_model(child) then
      self:walk(child, known)
    elseif elements.is_extension(child.ns) then
      self:check_extension(child)
    end
  end
end

-- ---- the diagram ----

local WAYPOINTS = 2
local DRAWN = { BPMNPlane = true, BPMNShape = true, BPMNEdge = true }

-- How many children of this name, of any namespace, an element has.
local function count(element, name)
  local number = 0
  for _, child in ipairs(element.children) do
    number = number + (child.name == name and 1 or 0)
  end
  return number
end

local NUMBERS = { Bounds = { "x", "y", "width", "height" }, waypoint = { "x", "y" } }

-- Flowable and Activiti pass over a drawing that is wrong.
function Schema:refuse_drawing(shape, message)
  if self.passes_over then
    self.report:warn(shape, message)
  else
    self.report:refuse(shape, message)
  end
end

-- Checks the numbers of a drawing's places.
function Schema:check_places(shape)
  for _, child in ipairs(shape.children) do
    for _, name in ipairs(NUMBERS[child.name] or {}) do
      if not tonumber(child.attributes[name]) then
        self:refuse_drawing(shape, ('<%s> of the diagram has %s="%s" (expected a number)'):format(
          child.name, name, child.attributes[name] or ""))
      end
    end
  end
end

function Schema:check_drawing(shape)
  self:check_places(shape)
  local refers = shape.attributes.bpmnElement
  local drawn = refers and self.ids[elements.unqualified(refers)]
  if not refers or refers == "" then
    self:refuse_drawing(shape, ('<%s> has no attribute "bpmnElement"'):format(shape.name))
  elseif not drawn and shape.name ~= "BPMNPlane" then
    self:refuse_drawing(shape, ('bpmnElement="%s", which is no element of the file'):format(refers))
  elseif shape.name == "BPMNShape" and count(shape, "Bounds") == 0 then
    self:refuse_drawing(shape, "a shape of the diagram has no <Bounds>")
  elseif shape.name == "BPMNEdge" and drawn.name == "sequenceFlow"
    and count(shape, "waypoint") < WAYPOINTS then
    self:refuse_drawing(shape, "an edge of the diagram has fewer than 2 waypoints")
  end
end

function Schema:check_diagram(element)
  if DRAWN[element.name] then
    self:check_drawing(element)
  end
  for _, child in ipairs(element.children) do
    if child.ns == elements.DIAGRAM then
      self:check_diagram(child)
    end
  end
end

-- check(root, report) -> the elements by their ids; nil if the file is no BPMN 2.0.
function schema.check(root, report)
  local self = setmetatable({ report = report, ids = {}, registry = {},
    passes_over = origin.passes_over(root) }, Schema)
  if root.name ~= "definitions" or not elements.is_model(root) then
    report:refuse(root, ('<%s> of the namespace "%s" (expected <definitions> of "%s")'):format(
      root.name, root.ns or "", elements.MODEL))
    return nil
  end
  self:collect_ids(root)
  self:walk(root, nil)
  for _, child in ipairs(root.children) do
    if child.ns == elements.DIAGRAM then
      self:check_diagram(child)
    end
  end
  return self.ids
end

return schema
