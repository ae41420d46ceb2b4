-- What jobs have, all at once: one of twenty fails first, each prints and has a result, one of ten
-- creates another one.
return {
  retry = "R3/PT0.01S",
  priority = "ranked",
  run = function(job)
    local order = job.payload.order
    if job.attempt == 1 and order % 20 == 0 then
      error("the mail server is asleep")
    end
    print("order", order, "sent")
    if order % 10 == 0 then
      job:enqueue("noop", { order = order })
    end
    return { sent = true }
  end,
}
