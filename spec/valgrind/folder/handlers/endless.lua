return { retry = "R1/PT0S", timeout = "PT1S", run = function() while true do end end }
