local wait = require "moonshift.process".wait

return { wait "due" { after = "PT0S" } }
