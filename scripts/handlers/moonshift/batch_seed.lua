-- Makes the next execution jobs of its batch, with its own success, and the seed after it.
return function(job)
  job:operate { verb = "batch_seed", batch = job.payload.batch }
end
