-- The program as a user meets it: a command line in a folder of its own.
local process = require "spec.support.process"
local stores = require "spec.support.stores"

local program = {}

-- The command line of these words in this folder, with these variables. The store that the folder
-- has by default is a schema where stores are schemas.
local function command(arguments, folder, variables)
  local words, given = {}, {}
  if stores.template and folder then
    given.MOONSHIFT_STORE = "sqlite:" .. folder .. "/moonshift.db"
  end
  for name, value in pairs(variables or {}) do
    given[name] = value
  end
  for name, value in pairs(given) do
    words[#words + 1] = process.quote(name .. "=" .. stores.url(value, folder))
  end
  local list = {}
  for i, word in ipairs(arguments) do
    list[i] = stores.url(word, folder)
  end
  return ("env %s %s"):format(table.concat(words, " "), process.command(table.unpack(list)))
end

-- Runs the program to its end: status, standard output, standard error. `options` may hold `stdin`
-- (a text), `env` { NAME = value }, `dir` (where it runs) and `terminal` (columns: standard output
-- and error are one terminal, what it shows comes back as the output).
function program.run(arguments, options)
  options = options or {}
  local line = command(arguments, options.dir, options.env)
  if options.terminal then
    local inner = ("stty cols %d; %s"):format(options.terminal, line)
    line = "script -qefc " .. process.quote(inner) .. " /dev/null"
  end
  local input = "/dev/null"
  if options.stdin then
    input = os.tmpname()
    local file = assert(io.open(input, "wb"))
    file:write(options.stdin)
    file:close()
  end
  local cd = options.dir and "cd " .. process.quote(options.dir) .. " && " or ""
  local status, output, errors = process.run(cd .. line .. " <" .. process.quote(input))
  if options.stdin then
    os.remove(input)
  end
  return status, output, errors
end

-- A folder with scripts and a store of its own: { path, store, run(...), clean() }.
function program.place(files)
  local place = { path = process.folder(files) }
  place.store = place.path .. "/moonshift.db"

  -- A command line of the program, for a shell that is in the folder.
  function place.line(...)
    return command({ ... }, place.path)
  end

  -- The URL of its store as the program has it from the folder or its surroundings.
  function place.given()
    return stores.url("sqlite:moonshift.db", place.path)
  end

  function place.run(...)
    return program.run({ ... }, { dir = place.path })
  end

  function place.write(name, text)
    local file = assert(io.open(place.path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  function place.clean()
    process.remove(place.path)
  end

  return place
end

return program
