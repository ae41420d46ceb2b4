-- The lines of the file, as a list of { till, cents }. By hand the file is a variable.
return function(job)
  local list = {}
  local path = job.variables.file or "receipts.csv"
  local file = io.open(path)
  for line in file and file:lines() or function() end do
    local till, cents = line:match "^([%w-]+),(%d+)$"
    if till then
      list[#list + 1] = { till = till, cents = math.tointeger(cents) }
    end
  end
  if file then
    file:close()
  end
  return require("moonshift").array(list)
end
