-- Sends letters; this one prints them.
local post = {}

function post.send(reader, text)
  print(("to %s: %s"):format(reader, text))
end

return post
