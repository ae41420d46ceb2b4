-- Does nothing; a function says how urgent it is.
return { priority = "ranked", run = function() end }
