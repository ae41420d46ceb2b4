/* statements.c - what the rules ask in SQLite's own words, mostly for JSON. */
#include "store/rules/ground/row.h"
#include "store/sqlite/db/engine.h"

#define ROW_OF(table)                                                                              \
    "SELECT " ROW_PLACE " FROM " table " j LEFT JOIN locked l ON l.id=j.id WHERE j.id=?1"

const struct store_sql sqlite_sql = {
    .commits = "PRAGMA data_version",
    .configured = "SELECT json_extract(properties, '$.retries'),"
                  " json_extract(properties, '$.category'),"
                  " json_extract(properties, '$.priority'),"
                  " json_type(properties, '$.priority') IS 'integer'"
                  " FROM definition WHERE name=?1",
    .cleaner = "SELECT 1 FROM executor WHERE state=1 AND id<>?1"
               " AND json_extract(settings, '$.cleanup')=1 LIMIT 1",
    .served = "UPDATE incident SET ended=?2, how=?3 WHERE ended IS NULL AND job IS NULL"
              " AND type=?4 AND (json_type(?1, '$.handlers') IS NULL OR definition IN"
              " (SELECT d.id FROM json_each(?1, '$.handlers') h JOIN definition d"
              " ON d.name=h.value))",
    .publish = "UPDATE executor SET settings=json_patch(json_remove("
               "coalesce(settings, '{}'), '$.handlers'), ?2) WHERE id=?1",
    .unserved = "UPDATE incident SET ended=?2, how=?3 WHERE ended IS NULL"
                " AND job IS NULL AND type=?4 AND definition NOT IN"
                " (SELECT value FROM json_each(?1))",
    .waiting = "SELECT j.repeat, c.zone, c.misfire, c.origin, c.starts, c.date, c.shift,"
               " c.retries, c.schedule, s.paused, json_remove(s.spec, '$.payload')"
               " FROM cycle c JOIN job j ON j.id=c.job LEFT JOIN schedule s ON s.name=c.schedule"
               " WHERE c.job=?1",
    .row = ROW_OF("live"),
    .row_placeless = ROW_OF("job"),
    .put_note = "INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)",
    .get_note = "SELECT value FROM meta WHERE key=?1",
    .drop_note = "DELETE FROM meta WHERE key=?1",
    .payload_fits = "CASE WHEN j.payload IS NOT NULL AND payload_fits(j.payload)",
};

const struct verify_rule sqlite_verify[] = {
    {"SELECT journal_mode FROM pragma_journal_mode WHERE journal_mode NOT IN ('wal', 'memory')",
     "the journal mode",
     "holds up all writing while anybody reads (expected wal: it comes back as "
     "soon as the store is opened for writing)"},
    {"SELECT * FROM pragma_integrity_check(100) WHERE integrity_check<>'ok'", NULL, NULL},
    {"SELECT id FROM job WHERE NOT payload_fits(coalesce(payload, '')) LIMIT 100", "job",
     "has a payload nested deeper than 100: searches by payload leave it out"},
    {NULL, NULL, NULL},
};
