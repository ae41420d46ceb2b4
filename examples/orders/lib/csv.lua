-- Reads the orders: a header line, then order,customer,vip,cents.
local csv = {}

-- An iterator over { order, customer, vip, cents }; raises with file and line on a bad line.
function csv.orders(path)
  local file = assert(io.open(path))
  local number = 1
  file:read("l")
  return function()
    local line = file:read("l")
    if not line then
      file:close()
      return nil
    end
    number = number + 1
    local order, customer, vip, cents = line:match("^(%d+),([%w-]+),(%a+),(%d+)$")
    if not order then
      error(("%s:%d: expected order,customer,vip,cents"):format(path, number), 0)
    end
    return {
      order = math.tointeger(order),
      customer = customer,
      vip = vip == "yes",
      cents = math.tointeger(cents),
    }
  end
end

return csv
