return function(job)
  for i = 1, 3 do
    job:enqueue("fine", { n = i, text = ("x"):rep(300) }, { lane = job.lane, priority = i })
  end
end
