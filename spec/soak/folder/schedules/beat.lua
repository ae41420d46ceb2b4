return {
  handler = "beat",
  cycle = "R/PT1S",
  payload = { m = "beat", ms = 5 },
  misfire = "all",
  catch_up = 3,
  overlap = "queue",
}
