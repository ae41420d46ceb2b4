-- The grammar of expressions: reads a text with ${…} and #{…} into a tree. It is built by LPeg when
-- the first expression is met.
--
-- A node is a list: its tag, its position, and what belongs to it: other nodes, names, a value.
local lpeg = require "lpeg"

local C, Cc, Cp, Cs, Ct, P, R, S, V =
  lpeg.C, lpeg.Cc, lpeg.Cp, lpeg.Cs, lpeg.Ct, lpeg.P, lpeg.R, lpeg.S, lpeg.V

local grammar = {}

local STACK = 4000 -- entries of LPeg's stack: about 200 brackets in each other
local WORDS = {
  ["and"] = "&&", ["or"] = "||", ["not"] = "!", eq = "==", ne = "!=", lt = "<", gt = ">", le = "<=",
  ge = ">=", div = "/", mod = "%", empty = "empty",
}
local LITERALS = { "true", "false", "null" }
local RESERVED = { "instanceof", "new" }

-- What a text that cannot be read begins with, and what is said about it.
local REFUSED = {
  { "^new%f[^%w_$]", "objects cannot be made (new)" },
  { "^instanceof%f[^%w_$]", "types cannot be asked for (instanceof)" },
  { "^%->", "functions cannot be made (->)" },
  { "^=[^=]", "nothing can be assigned (=)" },
  { "^[;]", "one expression is expected (;)" },
  { "^['\"]", "the quoted text has no end" },
}

local far -- the position that the reading has come to

local function fold(first, ...)
  local node, list = first, { ... }
  for i = 1, #list, 3 do
    local tag = list[i + 1] == "&&" and "both" or list[i + 1] == "||" and "either" or "binary"
    node = tag == "binary" and { tag, list[i], list[i + 1], node, list[i + 2] }
      or { tag, list[i], node, list[i + 2] }
  end
  return node
end

-- A list of operators and operands comes as one capture: there may be thousands.
local function chain(list)
  return fold(table.unpack(list))
end

local function suffixed(list)
  local node = list[1]
  for i = 2, #list do
    local suffix = list[i]
    node = { suffix[1], suffix[2], node, suffix[3], suffix[4] }
  end
  return node
end

local function choice(node, position, yes, no)
  return position and { "choice", position, node, yes, no } or node
end

local function number(position, text)
  return { "constant", position, tonumber(text) }
end

local blank = S " \t\r\n\f" ^ 0
local mark = lpeg.Cmt(P(true), function(_, position)
  if position > far then
    far = position
  end
  return true
end)
local skip = blank * mark
local letter = R("az", "AZ", "\128\255") + S "_$"
local tail = (letter + R "09") ^ 0

local function token(text)
  return P(text) * skip
end

local function word(text)
  return P(text) * -(letter + R "09") * skip
end

-- One of the operators, symbols or words, as the symbol.
local function operator(symbols)
  local found = P(false)
  for symbol in symbols:gmatch "%S+" do
    found = found + C(symbol) * -P(symbol == "-" and ">" or "=") * skip
    for name, same in pairs(WORDS) do
      if same == symbol then
        found = found + word(name) * Cc(symbol)
      end
    end
  end
  return Cp() * found
end

local function level(name, symbols)
  return Ct(V(name) * (operator(symbols) * V(name)) ^ 0) / chain
end

local function identifier()
  local reserved = P(false)
  for name in pairs(WORDS) do
    reserved = reserved + P(name) * -(letter + R "09")
  end
  for _, list in ipairs { LITERALS, RESERVED } do
    for _, name in ipairs(list) do
      reserved = reserved + P(name) * -(letter + R "09")
    end
  end
  return C(letter * tail) - reserved
end

local function quoted(quote)
  local plain = 1 - S("\\" .. quote)
  local escaped = P "\\" / "" * S "\\'\""
  return P(quote) * Cs((plain + escaped + P "\\") ^ 0) * quote
end

local function literals()
  local digits = R "09" ^ 1
  local exponent = S "eE" * S "+-" ^ -1 * digits
  local real = digits * "." * R "09" ^ 0 * exponent ^ -1 + "." * digits * exponent ^ -1
    + digits * exponent
  return Cp() * C(real + digits) * -letter * skip / number
    + Ct(Cc "constant" * Cp() * (quoted "'" + quoted '"') * skip)
    + Ct(Cc "constant" * Cp() * word "true" * Cc(true))
    + Ct(Cc "constant" * Cp() * word "false" * Cc(false))
    + Ct(Cc "constant" * Cp() * word "null")
end

local function build()
  lpeg.setmaxstack(STACK)
  local name = identifier() * skip
  local prefix = (C "variables" + C "vars" + C "var") * skip
  local list = Ct((V "choice" * (token "," * V "choice") ^ 0) ^ -1)
  local arguments = token "(" * list * token ")"
  local inner = S "$#" * "{" * skip * V "choice" * "}" * mark
  local plain = Cs((P "\\" / "" * (S "$#" * "{") + (1 - S "$#" * "{")) ^ 1)
  return P {
    Ct(Cc "text" * Cp() * (inner + plain) ^ 0) * -1,
    choice = V "either" * (Cp() * token "?" * V "choice" * token ":" * V "choice") ^ -1 / choice,
    either = level("both", "||"),
    both = level("equal", "&&"),
    equal = level("order", "== !="),
    order = level("sum", "<= >= < >"),
    sum = level("product", "+ -"),
    product = level("unary", "* / %"),
    unary = Ct(Cc "unary" * (Cp() * (C(S "-!" * -P "=") * skip + word "not" * Cc "!"
      + word "empty" * Cc "empty")) * V "unary") + V "suffixed",
    suffixed = Ct(V "primary" * V "suffix" ^ 0) / suffixed,
    primary = literals() + token "(" * V "choice" * token ")"
      + Ct(Cc "prefixed" * Cp() * prefix * token ":" * C(letter * tail) * skip * arguments)
      + Ct(Cc "call" * Cp() * name * arguments)
      + Ct(Cc "name" * Cp() * name),
    suffix = Ct(Cc "method" * Cp() * token "." * name * arguments)
      + Ct(Cc "property" * Cp() * token "." * name)
      + Ct(Cc "index" * Cp() * token "[" * V "choice" * token "]"),
  }
end

local function explain(text, position)
  local rest = text:sub(position)
  for _, refused in ipairs(REFUSED) do
    if rest:find(refused[1]) then
      return refused[2]
    end
  end
  if rest == "" then
    return "it ends too early (expected })"
  end
  local found = rest:match "^[%w_$]+" or rest:match "^[ -~]"
    or rest:match "^[\xC2-\xFD][\x80-\xBF]+"
  return found and ('unexpected "%s"'):format(found)
    or ("unexpected byte %d"):format(rest:byte())
end

local pattern

-- read(text) -> the tree; or nil, message, position in the text.
function grammar.read(text)
  pattern = pattern or build()
  far = 1
  local fine, tree = pcall(pattern.match, pattern, text)
  if fine and tree then
    return tree
  end
  local position = far
  if not fine then
    return nil, "it is nested too deeply", position
  end
  return nil, explain(text, position), position
end

return grammar
