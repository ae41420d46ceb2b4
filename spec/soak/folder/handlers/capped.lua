local soak = require "lib.soak"
return { limit = { cluster = 2 }, run = soak.handler(soak.work) }
