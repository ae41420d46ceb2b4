-- moonshift/http/meta.lua - types of requests for editors, as in moonshift/meta.lua. It is never
-- loaded.
-- luacheck: ignore 111 112 212 241
---@meta _

--- Requests of handlers, the global `http`. [Requests](http.md) says what they may do and where.
---@class moonshift.http
http = {}

--- Asks another system and waits for its answer, whatever status that has.
---@param asked moonshift.http_options
---@return moonshift.answer? answer nil if there is none
---@return string? message why there is none
---@return string? code "dns", "connect", "tls", "timeout", "too_large", "refused" or "cancelled"
function http.request(asked) end

--- What `http.request` is told.
---@class moonshift.http_options
---@field url string of http or https
---@field method? string GET unless given
---@field headers? table<string, string>
---@field body? string
---@field json? any a value instead of the body
---@field timeout? moonshift.span PT30S unless given, never longer than the run's
---@field follow? integer redirects at most, 5 unless given
---@field max? integer|string the largest body of an answer, 1MiB unless given
---@field ca? string a file with the certificates to trust
---@field again? boolean|string an Idempotency-Key that all attempts of the job have
---@field sign? string a secret: the header Moonshift-Signature says that the body is ours

--- The answer to a request.
---@class moonshift.answer
---@field status integer
---@field headers table<string, string> by names in small letters
---@field body string
---@field json fun(): any, string?, string? the body as a value; or nil, a message and "invalid"
---@field retry_after? number seconds, of the header Retry-After

--- A request as `http` of a spec gets it: what was asked, with its defaults.
---@class moonshift.request
---@field method string in capitals
---@field url string
---@field headers table<string, string> by names in small letters
---@field body? string
---@field json? any the value that the body was made of
---@field timeout integer ms
---@field follow integer
---@field max integer bytes

--- What `http` of a spec answers.
---@class moonshift.response
---@field status integer
---@field headers? table<string, string>
---@field body? string
---@field json? any instead of the body
