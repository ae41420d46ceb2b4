-- Adds up what the ledger says and holds it against the CSV; knows nothing of moonshift. Run it as:
-- lua5.4 report.lua [CSV [LEDGER]]. Exit 1 if something does not add up.
local csv_path = arg[1] or "examples/orders/orders.csv"
local ledger_path = arg[2] or "ledger.csv"
local fine = true

local function class_of(vip)
  return vip == "yes" and "VIP" or "other"
end

local function euros(cents)
  return ("%d.%02d"):format(cents // 100, cents % 100)
end

local function no_sums()
  return { VIP = { count = 0, cents = 0 }, other = { count = 0, cents = 0 } }
end

-- What should happen: count and sum by class, and each order's line.
local function read_orders()
  local orders, due = {}, no_sums()
  for line in io.lines(csv_path) do
    local order, customer, vip, cents = line:match("^(%d+),([%w-]+),(%a+),(%d+)$")
    if order then
      local class = due[class_of(vip)]
      class.count, class.cents = class.count + 1, class.cents + tonumber(cents)
      orders[tonumber(order)] = {
        customer = customer,
        class = class_of(vip),
        cents = tonumber(cents),
      }
    end
  end
  return orders, due
end

-- What did happen: every run in the order it was written.
local function read_runs()
  local runs = {}
  for line in io.lines(ledger_path) do
    local order, attempt, result = line:match("^(%d+),[^,]*,%a+,%d+,(%d+),%d+,(%a+)$")
    runs[#runs + 1] = { order = tonumber(order), attempt = tonumber(attempt), result = result }
  end
  return runs
end

-- Counts each paid order once; a second line for it is a repetition (a run whose result was lost).
local function add_up(orders, runs)
  local paid = no_sums()
  local seen, repeated, declined, retried = {}, 0, {}, {}
  for _, run in ipairs(runs) do
    local order = orders[run.order]
    if run.result == "declined" then
      declined[("%d/%d"):format(run.order, run.attempt)] = true
      retried[run.order] = true
    elseif seen[run.order] then
      repeated = repeated + 1
    else
      seen[run.order] = true
      local class = paid[order.class]
      class.count, class.cents = class.count + 1, class.cents + order.cents
    end
  end
  return paid, repeated, declined, retried
end

-- The first run of each order, in the order they began.
local function first_runs(runs)
  local seen, first = {}, {}
  for _, run in ipairs(runs) do
    if not seen[run.order] then
      seen[run.order] = true
      first[#first + 1] = run.order
    end
  end
  return first
end

-- The place of the last VIP among the first runs, and how many orders of a customer came too early.
local function look_at_order(orders, first)
  local last_vip, too_early, latest = 0, 0, {}
  for place, order in ipairs(first) do
    local customer = orders[order].customer
    if orders[order].class == "VIP" then
      last_vip = place
    end
    if order < (latest[customer] or 0) then
      too_early = too_early + 1
    end
    latest[customer] = math.max(order, latest[customer] or 0)
  end
  return last_vip, too_early
end

local function size(set)
  local count = 0
  for _ in pairs(set) do
    count = count + 1
  end
  return count
end

local function say(what, value, verdict)
  print(("%-34s %-26s %s"):format(what, value, verdict))
end

local function check(what, right, form, ...)
  fine = fine and right
  say(what, form:format(...), right and "right" or "WRONG")
end

local orders, due = read_orders()
local runs = read_runs()
local paid, repeated, declined, retried = add_up(orders, runs)
local last_vip, too_early = look_at_order(orders, first_runs(runs))

for _, class in ipairs { "VIP", "other" } do
  local is, should = paid[class], due[class]
  check(("orders paid, %s customers"):format(class), is.count == should.count, "%d of %d", is.count,
    should.count)
  check(("sum, %s customers"):format(class), is.cents == should.cents, "%s of %s", euros(is.cents),
    euros(should.cents))
end
check("runs declined, each tried again", size(declined) == 124 and size(retried) == 100,
  "%d of %d orders", size(declined), size(retried))
check("last VIP order's first run", last_vip <= due.VIP.count + 128, "place %d of %d", last_vip,
  #orders)
check("first runs out of turn", too_early == 0, "%d", too_early)
say("orders paid twice", tostring(repeated),
  repeated == 0 and "right" or "a crash repeats a run; counted once")
print(fine and "the ledger adds up" or "the ledger does NOT add up")
os.exit(fine)
