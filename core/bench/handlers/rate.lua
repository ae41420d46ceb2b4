-- Does nothing, about as often as it likes: the rate is near to what an executor reaches.
return { rate = "10000/PT0.1S", run = function() end }
