local soak = require "lib.soak"
return {
  retry = "R3/PT0.2S",
  run = soak.handler(function()
    error({ permanent = true, message = "no use", word = "hopeless" }, 0)
  end),
}
