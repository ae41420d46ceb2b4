return function(job)
  local sum = 0
  for _, receipt in ipairs(job.variables.receipts) do
    sum = sum + receipt.cents
  end
  print(("%d receipts, %d cents"):format(#job.variables.receipts, sum))
end
