-- Prints one line.
return function(job)
  print("order", job.payload.order, "sent")
end
