-- Stands for whatever needs no second chance: no retry of its own, so the standard rule holds.
return function(job)
  job:log("temporary files removed")
end
