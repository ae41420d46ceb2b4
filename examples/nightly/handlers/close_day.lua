-- Plans the night after a day of business: the reports at two in the morning, the clean-up an hour
-- after now. Payload: { day = <date of the coming morning, "2026-01-02"> }.
return function(job)
  local at = job.payload.day .. "T02:00:00Z"
  job:enqueue("reports/sales", { day = job.payload.day }, { at = at })
  job:enqueue("reports/stock", { day = job.payload.day }, { at = at })
  job:enqueue("clean_up", {}, { after = "PT1H" })
end
