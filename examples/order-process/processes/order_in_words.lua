-- The process of order.bpmn in words, with the same names and the same handlers.
local process = require "moonshift.process"
local start, step, task, choose, parallel, finish =
  process.start, process.step, process.task, process.choose, process.parallel, process.finish

local NOTED = { on_start = { class = "org.shop.NoteEnd" } }

local function put_back(name)
  return step(name) { class = "org.shop.ReleaseStock", input = { sku = "${sku}" } }
end

return {
  name = "Order, in words", history_time_to_live = "P180D",
  start "ordered" {},
  step "reserve" { class = "org.shop.ReserveStock", input = { sku = "${sku}" }, async = true,
    on_error = { "sold_out", id = "nothing_left", finish "sold_out" (NOTED) } },
  choose "large" {
    join = "charged_next",
    { when = "${cents >= 100000}", name = "1000 or more",
      task "approve" { name = "Approve the order", assignee = "clerk",
        within = { "${patience}", id = "clerk_is_late",
          put_back "release_expired", finish "expired" (NOTED) } },
      choose "approved" {
        { when = "${approved}" },
        { otherwise = true, put_back "release_refused", finish "refused" (NOTED) },
      } },
    { otherwise = true },
  },
  step "charge" { class = "org.shop.ChargeCard", async = true, retry = "R3/PT1S",
    input = { cents = "${cents}", card = "${card}" },
    on_error = { "declined", id = "card_declined",
      put_back "release_unpaid", finish "not_paid" (NOTED) } },
  parallel "fork" {
    join = "both_done",
    { step "pack" { class = "org.shop.Pack", async = true } },
    { step "invoice" { class = "org.shop.SendInvoice", async = true,
      input = { cents = "${cents}" } } },
  },
  finish "shipped" (NOTED),
}
