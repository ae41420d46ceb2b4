-- hmac(secret, text) -> HMAC-SHA256 in hexadecimal (RFC 2104).
local rules = require "moonshift.rules"

local BLOCK = 64 -- bytes

local function bytes_of(digits)
  return (digits:gsub("%x%x", function(two)
    return string.char(tonumber(two, 16))
  end))
end

-- The key with each byte changed.
local function padded(key, change)
  return (key:gsub(".", function(byte)
    return string.char(byte:byte() ~ change)
  end))
end

return function(secret, text)
  local key = #secret > BLOCK and bytes_of(rules.hash(secret)) or secret
  key = key .. ("\0"):rep(BLOCK - #key)
  return rules.hash(padded(key, 0x5c) .. bytes_of(rules.hash(padded(key, 0x36) .. text)))
end
