-- Sends an invoice to the API whose address is in INVOICE_API (host:port). Payload: { invoice =
-- <number>, cents = <integer> }.
--
-- The API allows 20 requests in any second and counts them as they arrive, but a rate counts
-- starts. The half second more is for requests that travel longer than others.
local http = require "lib.http"

return {
  rate = "20/PT1.5S",
  retry = "patient_for_demo",
  timeout = "PT10S",
  unique = function(job) return ("invoice-%d"):format(job.payload.invoice) end,
  unique_for = "PT1H",

  run = function(job)
    local invoice = job.payload.invoice
    local status = http.post(os.getenv("INVOICE_API"), ("/invoices/%d"):format(invoice),
      ('{"invoice":%d,"cents":%d}'):format(invoice, job.payload.cents))
    if status >= 300 then
      -- A wrong request stays wrong; 429 and 503 pass.
      error({
        message = ("invoice %d: the API answered %d"):format(invoice, status),
        permanent = status < 500 and status ~= 429,
      })
    end
    return { status = status }
  end,
}
