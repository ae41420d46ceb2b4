-- What Camunda's http-connector gives: the answer of the stock handler http by its names.
local connectors = {}

connectors.HTTP = "http-connector"
connectors.HANDLER = "http"

-- Its inputs, and what the handler calls them.
connectors.INPUTS = { url = "url", method = "method", headers = "headers", payload = "body" }

-- Any status is an answer, and the body stays a text.
connectors.FIELDS = { expect = "1xx,2xx,3xx,4xx,5xx", text = "true" }

-- answer(result) -> the variables that its outputs see
function connectors.answer(result)
  if type(result) ~= "table" then
    return { response = result }
  end
  return { statusCode = result.status, response = result.body, headers = result.headers }
end

return connectors
