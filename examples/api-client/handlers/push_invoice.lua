-- Sends an invoice to the API whose address is in INVOICE_API (host:port). Payload: { invoice =
-- <number>, cents = <integer> }.
--
-- The API allows 20 requests in any second and counts them as they arrive, but a rate counts
-- starts. The half second more is for requests that travel longer than others.
return {
  rate = "20/PT1.5S",
  retry = "patient_for_demo",
  timeout = "PT10S",
  unique = function(job) return ("invoice-%d"):format(job.payload.invoice) end,
  unique_for = "PT1H",

  run = function(job)
    local invoice = job.payload.invoice
    local answer, message = http.request {
      method = "POST",
      url = ("http://%s/invoices/%d"):format(os.getenv "INVOICE_API", invoice),
      json = { invoice = invoice, cents = job.payload.cents },
      timeout = 5,
      again = true,
    }
    if not answer then
      error(message, 0)
    elseif answer.status >= 300 then
      -- A wrong request stays wrong; 429 and 503 pass.
      error({
        message = ("invoice %d: the API answered %d"):format(invoice, answer.status),
        permanent = answer.status < 500 and answer.status ~= 429,
        retry_after = answer.retry_after,
      })
    end
    return { status = answer.status }
  end,
}
