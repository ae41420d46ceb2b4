-- Writes orders.csv, the same every time: 20 VIP customers with 5 orders each, 80 others with 900
-- orders between them, shuffled. Run it as: lua5.4 generate.lua >orders.csv
local state = 1

local function random(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % limit + 1
end

local function customers()
  local list = {}
  for i = 1, 100 do
    list[i] = ("customer-%d"):format(i % 20 + 1)
  end
  for i = 101, 1000 do
    list[i] = ("customer-%d"):format(i % 80 + 21)
  end
  for i = #list, 2, -1 do
    local other = random(i)
    list[i], list[other] = list[other], list[i]
  end
  return list
end

print("order,customer,vip,cents")
for order, customer in ipairs(customers()) do
  local vip = tonumber(customer:match("%d+")) <= 20
  print(("%d,%s,%s,%d"):format(order, customer, vip and "yes" or "no", 500 + random(20000)))
end
