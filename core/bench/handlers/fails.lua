-- Fails the first time if its priority is odd.
return {
  retry = "R3/PT0.01S",
  run = function(job)
    if job.attempt == 1 and job.priority % 2 == 1 then
      error("the mail server is asleep")
    end
  end,
}
