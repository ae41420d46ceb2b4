return { workers = 2, memory_limit = 8 * 1024 * 1024, history = "full", stock = { "shell" } }
