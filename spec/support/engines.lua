-- Engines for specs: script folders made on the spot, removed by `clean`.
local moonshift = require "moonshift"
local process = require "spec.support.process"

local engines = { START = "2026-01-01T00:00:00.000Z" }

local folders = {}

-- A folder of scripts { ["handlers/x.lua"] = text }; its path.
function engines.folder(files)
  folders[#folders + 1] = process.folder(files)
  return folders[#folders]
end

-- An engine in memory on a virtual clock whose handlers run in a private state, as in production.
function engines.private(files, settings)
  local given = { store = "sqlite::memory:", clock = moonshift.clock.virtual(engines.START) }
  given.scripts = engines.folder(files)
  for key, value in pairs(settings or {}) do
    given[key] = value
  end
  return assert(moonshift.open(given))
end

-- An engine on a file, on the system's clock; the database goes with the folder.
function engines.durable(files, settings)
  local folder = engines.folder(files)
  local given = { store = "sqlite:" .. folder .. "/jobs.db", scripts = folder }
  for key, value in pairs(settings or {}) do
    given[key] = value
  end
  return assert(moonshift.open(given)), folder
end

-- For after_each: removes what `folder` made.
function engines.clean()
  for i, folder in ipairs(folders) do
    process.remove(folder)
    folders[i] = nil
  end
end

return engines
