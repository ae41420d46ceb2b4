-- Every report is patient: it tries again after a quarter of an hour, half an hour and an hour,
-- unless its file says otherwise. Called with every definition while the folder is loaded.
return function(definition)
  if definition.name:match("^reports/") then
    definition.retry = definition.retry or "PT15M,PT30M,PT1H"
    definition.category = definition.category or "report"
  end
end
