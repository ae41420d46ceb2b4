require "spec.support.scripts"
local retry = require "moonshift.retry"

describe("retry", function()
  local files = { patient = { fn = print }, quick = { text = "R9/PT1S", runs = 9 } }

  describe("resolve", function()
    it("takes a configuration", function()
      assert.same({ text = "R5/PT5M", runs = 5, shown = "R5/PT5M" }, retry.resolve("R5/PT5M", {}))
    end)

    it("takes a function", function()
      assert.same({ fn = print, shown = "function" }, retry.resolve(print, {}))
    end)

    it("takes the name of a file with a function", function()
      assert.same({ fn = print, shown = "patient" }, retry.resolve("patient", files))
    end)

    it("takes the name of a file with a configuration", function()
      assert.same({ text = "R9/PT1S", runs = 9, shown = "quick" }, retry.resolve("quick", files))
    end)

    it("suggests a name", function()
      local _, message = retry.resolve("patinet", files)
      assert.equal('retry "patinet": no such file in retries/ and not a retry configuration '
        .. '(did you mean "patient"?)', message)
    end)

    it("names what it expects where no name is close", function()
      local _, message = retry.resolve("zzz", files)
      assert.equal('retry "zzz": no such file in retries/ and not a retry configuration '
        .. '(expected one such as "R5/PT5M")', message)
    end)

    it("says what is wrong with a text that is meant as a configuration", function()
      local _, message = retry.resolve("R5/PT5X", files)
      assert.equal('retry "R5/PT5X": duration "PT5X": expected H, M or S (position 4), '
        .. 'as in "1h30m" or "PT1H30M"', message)
    end)

    it("refuses other kinds", function()
      local _, message = retry.resolve(5, files)
      assert.equal('retry: got 5 (expected a text such as "R5/PT5M", a function or the name of a '
        .. "file in retries/)", message)
    end)
  end)

  describe("file", function()
    it("takes a function", function()
      assert.same({ fn = print }, retry.file(print))
    end)

    it("takes a configuration", function()
      assert.same({ text = "PT8M", runs = 2 }, retry.file("PT8M"))
    end)

    it("refuses other kinds", function()
      local _, message = retry.file(nil)
      assert.equal('returned nothing (expected a function or a text such as "R5/PT5M")', message)
    end)
  end)

  describe("decide", function()
    local function answer(...)
      local values = table.pack(...)
      return function()
        return table.unpack(values, 1, values.n)
      end
    end

    it("gives a delay in seconds as milliseconds", function()
      assert.equal(90500, (retry.decide(answer(90.5))))
    end)

    it("gives a duration as milliseconds", function()
      assert.equal(300000, (retry.decide(answer("PT5M"))))
    end)

    it("gives nothing when the strategy gives up", function()
      assert.same({ n = 2 }, table.pack(retry.decide(answer(nil))))
    end)

    it("hands on the retries left", function()
      assert.same({ 0, 7, n = 2 }, table.pack(retry.decide(answer(0, 7))))
    end)

    it("calls the strategy with the job and the failure", function()
      local seen
      retry.decide(function(...)
        seen = { ... }
      end, "job", "failure")
      assert.same({ "job", "failure" }, seen)
    end)

    it("refuses retries that are no whole number", function()
      assert.error(function()
        retry.decide(answer(1, -1))
      end, "returned -1 for the retries left (expected a whole number from 0)")
    end)

    it("refuses a delay that means nothing", function()
      assert.error_matches(function()
        retry.decide(answer("soon"))
      end, 'returned no delay: duration "soon": expected a number', 1, true)
    end)
  end)
end)
