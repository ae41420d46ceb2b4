-- Ends its batch once no job of it remains, and enqueues the batch's `on_complete` with the same
-- success. Otherwise there will be another monitor.
return function(job)
  local batch = assert(job.engine:batch(job.payload.batch))
  local ended = batch.remaining == 0
  if ended and batch.on_complete then
    job:enqueue(batch.on_complete, {
      batch = batch.id,
      type = batch.type,
      name = batch.name,
      total = batch.total,
      ids = batch.ids,
      start = batch.start,
    }, { unchecked = true })
  end
  job:operate { verb = "batch_monitor", batch = batch.id, ended = ended }
end
