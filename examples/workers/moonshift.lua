return { name = "workers" }
