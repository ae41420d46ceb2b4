-- Prints ten lines.
return function(job)
  for step = 1, 10 do
    print("step", step, "of order", job.payload.order)
  end
end
