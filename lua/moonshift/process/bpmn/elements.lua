-- Looking into the elements of a BPMN file: by their names, in the namespaces that mean the same.
local elements = {}

elements.MODEL = "http://www.omg.org/spec/BPMN/20100524/MODEL"
elements.DIAGRAM = "http://www.omg.org/spec/BPMN/20100524/DI"

-- The products whose attributes and extension elements mean the same. Of two the first counts.
local EXTENSIONS = {
  "http://camunda.org/schema/1.0/bpmn",
  "http://flowable.org/bpmn",
  "http://activiti.org/bpmn",
  "http://www.camunda.com/fox",
}
local is_extension = {}
for _, ns in ipairs(EXTENSIONS) do
  is_extension[ns] = true
end

-- True for the namespace of a product that is known here.
function elements.is_extension(ns)
  return ns ~= nil and is_extension[ns] == true
end

function elements.is_model(element)
  return element.ns == elements.MODEL
end

-- The keys of an attribute of a product, by its name; made once for each.
local keys_of = setmetatable({}, { __index = function(self, name)
  local keys = {}
  for i, ns in ipairs(EXTENSIONS) do
    keys[i] = ns .. " " .. name
  end
  self[name] = keys
  return keys
end })

-- The value of an attribute of a product; nil if it is absent. The names are those that are read.
function elements.extension(element, name)
  local attributes = element.attributes
  for _, key in ipairs(keys_of[name]) do
    local value = attributes[key]
    if value ~= nil then
      return value
    end
  end
end

-- The same, but an empty or blank text is none.
function elements.extension_text(element, name)
  local value = elements.extension(element, name)
  return value and value:find("%S") and value or nil
end

-- True or false by an attribute of a product, `otherwise` without it.
function elements.extension_flag(element, name, otherwise)
  local value = elements.extension(element, name)
  if value == nil then
    return otherwise
  end
  return value:lower() == "true"
end

-- True or false by an attribute of the standard.
function elements.flag(element, name, otherwise)
  local value = element.attributes[name]
  if value == nil then
    return otherwise
  end
  return value == "true" or value == "1"
end

-- The children of the standard with this name.
function elements.children(element, name)
  local list = {}
  for _, child in ipairs(element.children) do
    if child.name == name and elements.is_model(child) then
      list[#list + 1] = child
    end
  end
  return list
end

function elements.child(element, name)
  for _, child in ipairs(element.children) do
    if child.name == name and elements.is_model(child) then
      return child
    end
  end
end

-- The direct children of a product with this name.
function elements.own_children(element, name)
  local list = {}
  for _, child in ipairs(element.children) do
    if child.name == name and elements.is_extension(child.ns) then
      list[#list + 1] = child
    end
  end
  return list
end

-- The extension elements of a product with this name; some files have them as direct children.
function elements.extensions(element, name)
  local list = elements.own_children(element, name)
  for _, holder in ipairs(elements.children(element, "extensionElements")) do
    local own = elements.own_children(holder, name)
    table.move(own, 1, #own, #list + 1, list)
  end
  return list
end

function elements.trim(text)
  return (text:gsub("^%s+", ""):gsub("%s+$", ""))
end

-- The text of a child without blanks around it; nil if there is no such child.
function elements.child_text(element, name)
  local child = elements.child(element, name)
  return child and elements.trim(child.text), child
end

-- The last part of a qualified name: "tns:parcel" is parcel.
function elements.unqualified(name)
  return name and name:match("([^:]*)$")
end

return elements
