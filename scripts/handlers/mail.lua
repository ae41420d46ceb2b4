-- Sends one mail by the system's `sendmail`. Payload, or fields of an activity: { to, subject,
-- text, html, from, cc, bcc, reply_to }; `to`, `cc` and `bcc` are texts with commas, or lists.
-- A payload without `to`, such as what `notify` tells, goes to the variable MAIL_TO of the
-- executor's environment. It runs once: only the creator of the job knows whether a second mail
-- does no harm (`retries`). What sendmail says is wrong with the mail is a permanent failure.
local json = require("moonshift.json")

local COMMAND = "PATH=$PATH:/usr/sbin:/usr/lib exec sendmail -i -t"
local PERMANENT = { [64] = true, [65] = true, [67] = true, [68] = true } -- of sysexits.h
local LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function refuse(text, ...)
  error({ message = text:format(...), permanent = true })
end

-- In lines of 76 letters.
local function base64(text)
  local out = text:gsub("..?.?", function(three)
    local a, b, c = three:byte(1, 3)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    local four = ""
    for shift = 18, 0, -6 do
      local at = (bits >> shift & 63) + 1
      four = four .. LETTERS:sub(at, at)
    end
    return four:sub(1, #three + 1) .. ("="):rep(3 - #three)
  end)
  return (out:gsub(("."):rep(76), "%0\n"))
end

-- Text of a header; what is not ASCII is encoded in words of at most 75 letters.
local function words(name, text)
  if type(text) ~= "string" or text:find "%c" or not utf8.len(text) then
    refuse("%s: expected a text of one line", name)
  elseif not text:find "[\128-\255]" then
    return text
  end
  local list, piece = {}, ""
  for _, code in utf8.codes(text) do
    local letter = utf8.char(code)
    if #piece + #letter > 42 then
      list[#list + 1], piece = piece, ""
    end
    piece = piece .. letter
  end
  list[#list + 1] = piece
  for i, one in ipairs(list) do
    list[i] = "=?UTF-8?B?" .. base64(one):gsub("\n", "") .. "?="
  end
  return table.concat(list, "\n ")
end

local function addresses(name, value)
  local list = type(value) == "table" and value or { value }
  for i, one in ipairs(list) do
    if type(one) ~= "string" or one:find "%c" or not one:find "%S" or one:find "[\128-\255]" then
      refuse("%s: expected addresses in ASCII, each of one line", name)
    end
    list[i] = one
  end
  return table.concat(list, ", ")
end

local function part(kind, text)
  if type(text) ~= "string" then
    refuse("%s: expected a text", kind)
  end
  return ("Content-Type: text/%s; charset=UTF-8\nContent-Transfer-Encoding: base64\n\n%s\n"):format(
    kind == "html" and "html" or "plain", base64(text))
end

local function content(mail, boundary)
  if not mail.html then
    return part("text", mail.text)
  elseif not mail.text then
    return part("html", mail.html)
  end
  local line = "\n--" .. boundary
  return ('Content-Type: multipart/alternative; boundary="%s"\n'):format(boundary) .. line .. "\n"
    .. part("text", mail.text) .. line .. "\n" .. part("html", mail.html) .. line .. "--\n"
end

local function message_of(mail, id)
  local lines = { "To: " .. addresses("to", mail.to) }
  for name, header in pairs { from = "From", cc = "Cc", bcc = "Bcc", reply_to = "Reply-To" } do
    if mail[name] then
      lines[#lines + 1] = header .. ": " .. addresses(name, mail[name])
    end
  end
  lines[#lines + 1] = "Subject: " .. words("subject", mail.subject or "")
  lines[#lines + 1] = "MIME-Version: 1.0"
  return table.concat(lines, "\n") .. "\n" .. content(mail, "moonshift-" .. id)
end

-- What notify tells: a line for each fact.
local function told(payload)
  local to, lines = os.getenv "MAIL_TO", {}
  if not to or to == "" then
    refuse "to is missing, and the variable MAIL_TO is not set (expected an address)"
  end
  for name, value in pairs(payload) do
    lines[#lines + 1] = name .. ": " .. (type(value) == "string" and value or json.encode(value))
  end
  table.sort(lines)
  local subject = tostring(payload.cause or payload.kind or "moonshift"):gsub("%c", " ")
  return { to = to, subject = subject, text = table.concat(lines, "\n") .. "\n" }
end

-- The fields of an activity; of Flowable's, textVar and htmlVar name variables.
local function from_fields(job)
  local mail = {}
  for name, value in pairs(job.fields) do
    mail[name] = value
  end
  for _, kind in ipairs { "text", "html" } do
    local name = mail[kind .. "Var"]
    mail[kind] = mail[kind] or name and job.variables[name]
  end
  return mail
end

local function mail_of(job)
  if type(job) == "table" and next(job.fields) then -- an activity
    return from_fields(job)
  end
  return job.payload.to ~= nil and job.payload or told(job.payload)
end

return { retries = 1, run = function(job)
  local message = message_of(mail_of(job), ("%s.%s"):format(job.id, job.attempt))
  local pipe <close> = assert(io.popen(COMMAND, "w"))
  pipe:write(message)
  local fine, how, number = pipe:close()
  if not fine then
    local what = how == "exit" and "status" or how
    error({ message = ("sendmail ended with %s %d"):format(what, number),
      permanent = how == "exit" and PERMANENT[number] or false })
  end
end }
