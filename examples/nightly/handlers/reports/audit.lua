-- The audit has a retry of its own, so the listener leaves it alone.
return {
  retry = "R1/PT1S",

  run = function()
    error("the auditor is on holiday", 0)
  end,
}
