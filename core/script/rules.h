/* rules.h - the pure C rules offered to Lua: json, time, durations, retry text, cycles. Preloaded
 * as "moonshift.rules" in every state (worker, program, spec). */
#pragma once

#include <lua.h>

/* Pushes the table { null, array(t), decode(text), encode(value),
 * hash(text) -> SHA-256 in hexadecimal, time(text) -> ms,
 * format_time(ms) -> text, duration(text | seconds) -> ms, add_duration(ms, text | seconds) -> ms,
 * retry(text) -> { runs, delays = { { months, days, ms }, … } },
 * retry_due(text, retries_before, now) -> ms,
 * dates(cycle, zone or nil, after, count[, origin]) -> array of ms after `after` (the origin is
 * `after` unless given), cycle(text, zone or nil) -> true, suggest(word, list) -> name or nil,
 * job_fields = the names of a job's fields }.
 * Bad input gives nil, message; a wrong type raises. */
int luaopen_moonshift_rules(lua_State *L);
