-- Reminds a reader of a book that is due, and again a week later until it is back. After three
-- reminders it stops. Payload: { reader = <text>, book = <text>, reminders = <number so far> }.
local post = require "lib.post"
local shelf = require "lib.shelf"

return {
  retry = "R3/PT10M",

  run = function(job)
    local loan = job.payload
    if shelf.has(loan.book) then
      return { returned = loan.book }
    end
    post.send(loan.reader, ("please bring back %q"):format(loan.book))
    local reminders = (loan.reminders or 0) + 1
    if reminders < 3 then
      job:enqueue("remind", { reader = loan.reader, book = loan.book, reminders = reminders },
        { after = "P7D", lane = loan.reader })
    end
    return { reminders = reminders }
  end,
}
