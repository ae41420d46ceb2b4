local soak = require "lib.soak"
return { rate = "5/PT1S", run = soak.handler(soak.work) }
