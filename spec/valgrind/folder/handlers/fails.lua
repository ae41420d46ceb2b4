return {
  retry = "soon",
  run = function(job)
    if job.attempt < 3 then
      error({ message = "not yet", word = "later" })
    end
    error("never")
  end,
}
