-- The store lies beside this file.
return { store = "sqlite:trips.db" }
