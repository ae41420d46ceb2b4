-- The store lies beside this file. A short queue: what is taken from the store is no longer sorted
-- with what comes later, so a VIP order waits behind a few others at the most.
return { store = "sqlite:orders.db", queue = 16 }
