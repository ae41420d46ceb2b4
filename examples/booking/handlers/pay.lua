-- A stolen card is declined: an error of the process, which cancels the transaction.
return function(job)
  if job.variables.card == "stolen" then
    job:throw("declined", "the card is stolen")
  end
  print(("pay %d"):format(job.variables.price))
end
