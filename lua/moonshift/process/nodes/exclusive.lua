-- An exclusive gateway takes the first flow that is true, else the default.
local walk = require "moonshift.process.walk"

return { enter = require("moonshift.process.nodes.start").enter, choose = walk.choose_one }
