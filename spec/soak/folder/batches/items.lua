local soak = require "lib.soak"
return {
  invocations = 5,
  retry = "R5/PT0.2S",
  run = function(job, ids)
    soak.note("start", job, "- batch/items")
    for _, id in ipairs(ids) do
      soak.note("item", job, ("%d %s"):format(job.batch, id))
    end
    soak.note("ok", job, "- batch/items")
  end,
}
