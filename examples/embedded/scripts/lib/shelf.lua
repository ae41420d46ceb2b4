-- Knows which books are back: those with a file of their name in the folder of $SHELF.
local shelf = {}

function shelf.has(book)
  local file = io.open((os.getenv("SHELF") or "shelf") .. "/" .. book)
  return file ~= nil and file:close()
end

return shelf
