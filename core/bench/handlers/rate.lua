-- Does nothing, and as often as it likes: the rate is above what the executor reaches.
return { rate = "10000/PT0.1S", run = function() end }
