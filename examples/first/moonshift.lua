-- The settings of this folder. "moonshift settings" shows all of them, and where each comes from.
-- A flag (--workers 4) or a variable (MOONSHIFT_WORKERS=4) goes before what stands here.
return {
  -- A job that fails runs again after 10, 20, 40 … seconds, an hour at most: 12 runs within four
  -- hours. Without this line it has three runs, ten seconds apart.
  retry = "exponential",

  -- A run that takes longer is ended, and counts as a failure.
  -- timeout = "5m",

  -- Threads that run handlers; without it one for each processor.
  -- workers = 4,

  -- The zone of times and cycles that name none; without it UTC.
  -- zone = "Europe/Berlin",

  -- How long ended jobs are kept; without it for ever.
  -- history_ttl = "30d",
}
