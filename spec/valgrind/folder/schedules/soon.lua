return { handler = "fine", cycle = "R2/PT0.05S", payload = { n = 0 } }
