local soak = require "lib.soak"
return soak.handler(soak.work)
