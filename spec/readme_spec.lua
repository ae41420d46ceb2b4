-- The README's promise, word by word. Its code is run by docs_spec.lua.
local PROMISE = "Every job whose creation was acknowledged will be executed at least once, or end"
  .. " in a visible incident. Most jobs execute exactly once. A job can run again if the process or"
  .. " machine failed while it ran, or if it lost its lock. The *result* of a job is committed at"
  .. " most once: a worker that lost its lock cannot commit. Jobs of one lane never run at the same"
  .. " time, unless one of them ran on after its lock was lost; its result is then refused."
  .. ' "Acknowledged" means synced to disk.'

describe("the README", function()
  for _, path in ipairs { "README.md", "docs/concepts.md" } do
    it(("makes the promise in these words: %s"):format(path), function()
      local file <close> = assert(io.open(path))
      local lines = file:read("a"):match("\n(> Every job .-)\n\n")
      assert.equal(PROMISE, (lines:gsub("^> ", ""):gsub("\n> ", " ")))
    end)
  end
end)
