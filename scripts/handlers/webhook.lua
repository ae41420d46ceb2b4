-- Posts JSON to an address of somebody else, signed. Payload: { url, body }. A payload without
-- `url`, such as what `notify` tells, is posted as it is to the address in the variable WEBHOOK_URL
-- of the executor's environment. WEBHOOK_SECRET has the secret of the signature:
--
--   Moonshift-Signature: t=1767225600,v1=<HMAC-SHA256 of "1767225600.<body>", in hexadecimal>
--
-- 4xx but 408, 425 and 429 is a permanent failure, Retry-After is obeyed.
local LATER = { [408] = true, [425] = true, [429] = true }

local function refuse(text)
  error({ message = text, permanent = true })
end

local function environment(name, use)
  local value = os.getenv(name)
  if not value or value == "" then
    refuse(("the variable %s is not set (expected %s)"):format(name, use))
  end
  return value
end

local function target(payload)
  if type(payload) == "table" and payload.url ~= nil then
    return payload.url, payload.body
  end
  return environment("WEBHOOK_URL", "the address that is told"), payload
end

return { retry = "exponential", run = function(job)
  local url, content = target(job.payload)
  local secret = environment("WEBHOOK_SECRET", "the secret of the signature")
  local fine, response, why, code = pcall(http.request, { method = "POST", url = url,
    json = content, again = true, follow = 0, sign = secret })
  if not fine then
    refuse(response)
  elseif not response then
    error({ message = why, permanent = code == "refused" })
  end
  local status = response.status
  if status < 200 or status > 299 then
    error({ message = ("answered %d: %s"):format(status, response.body:sub(1, 1000)),
      permanent = status >= 400 and status < 500 and not LATER[status],
      retry_after = response.retry_after })
  end
end }
