/* statements.c - what the rules ask in PostgreSQL's own words, mostly for JSON. */
#include "store/postgres/db/connection.h"
#include "store/rules/ground/row.h"

#define PROPERTY(key) "properties::jsonb #>> '{" key "}'"
#define ROW_OF(table)                                                                              \
    "SELECT " ROW_PLACE " FROM " table " j LEFT JOIN " LOCK_OF("j.id") " AS l ON true WHERE "      \
                                                                       "j.id=?1"

const struct store_sql postgres_sql = {
    .commits = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
    .configured = "SELECT " PROPERTY("retries") ", " PROPERTY("category") ", " PROPERTY(
        "priority") ","
                    " coalesce(jsonb_typeof(properties::jsonb->'priority')='number', false)"
                    " FROM definition WHERE name=?1",
    .cleaner = "SELECT 1 FROM executor WHERE state=1 AND id<>?1"
               " AND settings::jsonb->'cleanup' IN ('true', '1') LIMIT 1",
    .served = "UPDATE incident SET ended=?2, how=?3 WHERE ended IS NULL AND job IS NULL"
              " AND type=?4 AND (?1::jsonb->'handlers' IS NULL OR definition IN"
              " (SELECT d.id FROM jsonb_array_elements_text(?1::jsonb->'handlers') h(name)"
              " JOIN definition d ON d.name=h.name))",
    .publish = "UPDATE executor SET settings=(coalesce(settings, '{}')::jsonb - 'handlers'"
               " || ?2::jsonb)::text WHERE id=?1",
    .unserved = "UPDATE incident SET ended=?2, how=?3 WHERE ended IS NULL"
                " AND job IS NULL AND type=?4 AND definition NOT IN"
                " (SELECT value::bigint FROM jsonb_array_elements_text(?1::jsonb) AS value)",
    .waiting = "SELECT j.repeat, c.zone, c.misfire, c.origin, c.starts, c.date, c.shift,"
               " c.retries, c.schedule, s.paused, (s.spec::jsonb - 'payload')::text"
               " FROM cycle c JOIN job j ON j.id=c.job LEFT JOIN schedule s ON s.name=c.schedule"
               " WHERE c.job=?1",
    .row = ROW_OF("live"),
    .row_placeless = ROW_OF("job"),
    .occupancy_fold =
        "WITH gone AS (DELETE FROM occupancy WHERE shard<>0 AND shard NOT IN"
        " (SELECT pid FROM pg_catalog.pg_stat_activity) RETURNING stream, ready, timer, parked)"
        " INSERT INTO occupancy AS o(shard, stream, ready, timer, parked)"
        " SELECT 0, stream, sum(ready), sum(timer), sum(parked) FROM gone"
        " GROUP BY stream ORDER BY stream"
        " ON CONFLICT(shard, stream) DO UPDATE SET ready=o.ready+excluded.ready,"
        " timer=o.timer+excluded.timer, parked=o.parked+excluded.parked",
    .put_note = "INSERT INTO note(key, value) VALUES(?1, ?2)"
                " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
    .get_note = "SELECT value FROM note WHERE key=?1",
    .drop_note = "DELETE FROM note WHERE key=?1",
    .payload_fits = "CASE WHEN payload_json(j.payload) IS NOT NULL",
    .whole = "SELECT set_config('enable_seqscan', ?1, true),"
             " set_config('enable_hashjoin', ?1, true),"
             " set_config('enable_mergejoin', ?1, true), set_config('statement_timeout',"
             " CASE ?1 WHEN 'on' THEN '0' ELSE '30000' END, true),"
             " set_config('max_parallel_workers_per_gather',"
             " CASE ?1 WHEN 'on' THEN '2' ELSE '0' END, true)",
};

const struct verify_rule postgres_verify[] = {
    {"SELECT id FROM job WHERE payload IS NOT NULL AND payload_json(payload) IS NULL LIMIT 100",
     "job", "has a payload that the server cannot read: searches by payload leave it out"},
    {NULL, NULL, NULL},
};
