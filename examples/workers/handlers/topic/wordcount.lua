-- Work for programs elsewhere: how often it is tried, and how long a worker has a job.
return { retry = "R3/PT5S", timeout = "PT1M" }
