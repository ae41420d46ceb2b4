-- Fails for good.
return {
  retry = "R1/PT0S",
  run = function()
    error("the mail server is gone")
  end,
}
