return {
  retry = "R1/PT0S",
  run = function()
    local all = {}
    while true do
      all[#all + 1] = ("x"):rep(100000) .. #all
    end
  end,
}
