-- A boundary event that has come: it goes on along its flows.
return require "moonshift.process.nodes.start"
