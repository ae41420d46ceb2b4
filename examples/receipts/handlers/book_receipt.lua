-- Each turn is a job of its own: the failure of one repeats this one alone.
return function(job)
  local receipt = job.variables.receipt
  print(("%s: %d"):format(receipt.till, receipt.cents))
end
