-- Does nothing, eight at a time at most.
return { limit = 8, run = function() end }
