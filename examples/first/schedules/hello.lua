-- Greets every ten seconds. A cron text, such as "0 8 * * MON-FRI", is a cycle as well.
return { handler = "greet", cycle = "R/PT10S", payload = { name = "moon" } }
