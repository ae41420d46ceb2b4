-- A task that nobody does (manual, abstract): it is over at once.
return require "moonshift.process.nodes.start"
