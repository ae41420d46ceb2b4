-- meant(word, files, otherwise): ' (did you mean "x"?)' for the file whose name is close to the
-- word, else the other text.
local rules = require "moonshift.rules"

return function(word, files, otherwise)
  local names = {}
  for name in pairs(files) do
    names[#names + 1] = name
  end
  table.sort(names)
  local name = rules.suggest(word, names)
  return name and (' (did you mean "%s"?)'):format(name) or otherwise
end
