-- Script folders made of texts, for specs of the Lua half: the natives that C would give.
package.preload["moonshift.rules"] = package.preload["moonshift.rules"] or function()
  return require("moonshift.core").rules
end

package.preload["moonshift.xml"] = package.preload["moonshift.xml"] or function()
  return require("moonshift.core").xml
end

local scripts = { now = 1767225600000 } -- 2026-01-01T00:00:00Z

local function sorted(files)
  local paths = {}
  for path in pairs(files) do
    paths[#paths + 1] = path
  end
  table.sort(paths)
  return paths
end

-- natives { ["handlers/x.lua"] = text }; what is printed is collected in `printed`.
function scripts.natives(files)
  local natives = { paths = sorted(files), stock = {}, printed = {}, job = {} }
  function natives.load(path, env)
    return load(files[path], "@" .. path, "t", env)
  end
  function natives.text(path)
    return files[path]
  end
  function natives.loading() end
  function natives.now()
    return scripts.now
  end
  function natives.check_spec()
    return true
  end
  function natives.is_store(path)
    return path == "jobs.db"
  end
  function natives.print(...)
    table.insert(natives.printed, table.concat({ ... }, " "))
  end
  natives.rep, natives.move = string.rep, table.move
  natives.popen, natives.execute = io.popen, os.execute
  return natives
end

-- Loads a folder as a borrowed state does; options are those of moonshift.folder.
function scripts.load(files, options)
  local given = { borrowed = true, timeout = 300 }
  for key, value in pairs(options or {}) do
    given[key] = value
  end
  return require("moonshift.folder").load(scripts.natives(files), given)
end

-- The problems of a folder as "file:line: message", "what: message" for what has no lines.
function scripts.problems(files, options)
  local list = {}
  for i, problem in ipairs(scripts.load(files, options).problems) do
    local where = problem.line and problem.file .. ":" .. problem.line or problem.file
    list[i] = where .. ": " .. problem.message
  end
  return list
end

return scripts
