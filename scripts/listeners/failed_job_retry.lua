-- Reads the property failedJobRetryTimeCycle, as process models of Camunda 7 carry it (rules §9):
-- it becomes the definition's retry unless the handler names one itself. "R5/PT5M" or
-- "PT10M,PT17M,PT20M".
return function(definition)
  definition.retry = definition.retry or definition.properties.failedJobRetryTimeCycle
end
