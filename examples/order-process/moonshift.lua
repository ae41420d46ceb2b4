-- The store lies beside this file. Whoever completes a task at the command line is "clerk".
return { store = "sqlite:orders.db" }
