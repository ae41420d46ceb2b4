-- show(value): a value as messages name it: nothing, 5, true, the string "x", a table.
return function(value)
  local kind = type(value)
  if kind == "nil" then
    return "nothing"
  elseif kind == "number" or kind == "boolean" then
    return tostring(value)
  elseif kind == "string" then
    return ('the string "%s"'):format(#value > 100 and value:sub(1, 100) .. "…" or value)
  end
  return "a " .. kind
end
