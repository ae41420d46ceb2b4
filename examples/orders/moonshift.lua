-- The store lies beside this file. All VIP orders fit one page (128), so all are taken at once;
-- with a shorter queue a VIP whose lane is busy would see others taken meanwhile.
return { store = "sqlite:orders.db" }
