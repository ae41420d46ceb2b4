return {
  lock_time = "PT2S",
  queue = 8,
  page = 8,
  workers = 2,
  shutdown_wait = "PT3S",
  failed_job_wait = "PT0.2S",
  request_time_to_live = "P60D",
}
