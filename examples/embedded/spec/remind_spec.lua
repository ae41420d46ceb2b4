local testing = require "moonshift.testing"

local scripts = debug.getinfo(1, "S").source:match("^@(.*)spec/") .. "scripts"

describe("remind", function()
  local engine, letters, back

  before_each(function()
    letters, back = {}, {}
    engine = testing.engine {
      scripts = scripts,
      modules = {
        ["lib.post"] = {
          send = function(reader, text)
            letters[#letters + 1] = reader .. ": " .. text
          end,
        },
        ["lib.shelf"] = {
          has = function(book)
            return back[book]
          end,
        },
      },
    }
    engine:enqueue("remind", { reader = "ada", book = "Emma" }, { after = "P28D" })
  end)

  after_each(function()
    engine:close()
  end)

  it("waits until the book is due", function()
    engine:advance("P27D")
    engine:drain()
    assert.same({}, letters)
  end)

  it("writes to the reader", function()
    engine:advance("P28D")
    engine:drain()
    assert.same({ 'ada: please bring back "Emma"' }, letters)
  end)

  it("is quiet once the book is back", function()
    back.Emma = true
    engine:advance("P28D")
    engine:drain()
    assert.same({}, letters)
    assert.equal(0, engine:jobs():count())
  end)

  it("gives up after three letters, a week apart", function()
    for _ = 1, 10 do
      engine:advance("P7D")
      engine:drain()
    end
    assert.equal(3, #letters)
    assert.equal(0, engine:jobs():count())
  end)
end)
