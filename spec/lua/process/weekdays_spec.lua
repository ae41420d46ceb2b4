-- Numbers of weekdays in cron texts, as names.
require "spec.support.scripts"
local weekdays = require "moonshift.process.weekdays"

describe("the weekdays of a cron text", function()
  local named = {
    -- text, in Quartz, here
    { "0 0 9 ? * 2-6", "0 0 9 ? * MON-FRI", "0 0 9 ? * TUE-SAT" },
    { "0 0 9 ? * 1", "0 0 9 ? * SUN", "0 0 9 ? * MON" },
    { "0 0 9 ? * 7", "0 0 9 ? * SAT", "0 0 9 ? * SUN" },
    { "0 0 9 ? * 1,7", "0 0 9 ? * SUN,SAT", "0 0 9 ? * MON,SUN" },
    { "0 0 9 ? * 6#3", "0 0 9 ? * FRI#3", "0 0 9 ? * SAT#3" },
    { "0 0 9 ? * 7L 2030", "0 0 9 ? * SATL 2030", "0 0 9 ? * SUNL 2030" },
    { "0 0 9 ? * 6-2", "0 0 9 ? * FRI,SAT,SUN,MON", "0 0 9 ? * SAT,SUN,MON,TUE" },
    { "0 0 9 ? * 2/2", "0 0 9 ? * MON,WED,FRI", "0 0 9 ? * TUE,THU,SAT" },
    { "0 0 9 ? * 2-6/2", "0 0 9 ? * MON,WED,FRI", "0 0 9 ? * TUE,THU,SAT" },
    { "0 0 9 ? * mon-6", "0 0 9 ? * MON-FRI", "0 0 9 ? * MON-SAT" },
    { "0 0 9 ? * L", "0 0 9 ? * SAT", "0 0 9 ? * L" },
    { "0  0 9 ?\t* 2", "0 0 9 ? * MON", "0 0 9 ? * TUE" },
  }

  for _, one in ipairs(named) do
    it(("of %q have names"):format(one[1]), function()
      assert.equal(one[2], weekdays.named(one[1], weekdays.QUARTZ))
      assert.equal(one[3], weekdays.named(one[1], weekdays.UNIX))
    end)
  end

  it("stay where they have no numbers, or where there is none", function()
    for _, text in ipairs { "0 0 9 ? * MON-FRI", "0 0 9 1 * ?", "0 0 9 ? * */2", "0 0 9 ? * MON#3",
      "0 9 * * 1-5", "R3/PT5M", "@daily", "", "0 0 9 ? * 2 2030 x" } do
      assert.equal(text, weekdays.named(text, weekdays.QUARTZ))
    end
  end)

  it("are refused where a number is none", function()
    local found, message = weekdays.named("0 0 9 ? * 0", weekdays.QUARTZ)
    assert.is_nil(found)
    assert.equal('cron "0 0 9 ? * 0": weekday 0 is not in 1-7 (expected such a number or SUN-SAT)',
      message)
    assert.is_nil(weekdays.named("0 0 9 ? * 2-8", weekdays.QUARTZ))
    assert.has_error(function()
      weekdays.quartz "0 0 9 ? * 9"
    end, 'cron "0 0 9 ? * 9": weekday 9 is not in 1-7 (expected such a number or SUN-SAT)')
  end)

  it("of no text are none", function()
    assert.equal(5, weekdays.quartz(5))
  end)
end)
