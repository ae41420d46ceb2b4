-- A listener of the end events: keeps which of them an order has reached.
return function(job)
  job.variables.ended_as = job.activity
end
