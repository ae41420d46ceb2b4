-- An event sub-process whose event has come: a scope beside the others.
return require "moonshift.process.nodes.subprocess"
