/* verify.c - is the store whole, and is every job in exactly one place? */
#include "store/rules/process/verify.h"
#include "base/json.h"
#include "store/rules/ground/state.h"
#include "store/rules/place/places.h"
#include "store/rules/process/stuck_instance.h"
#include "store/rules/process/turn.h"

#define NO_PURGE_PENDING                                                                           \
    "NOT EXISTS(SELECT 1 FROM executor WHERE debt<>0)"                                             \
    " AND NOT EXISTS(SELECT 1 FROM meta WHERE key='sweep_to')"

/* What the counters say of each stream, less what is there. */
#define THERE(table, counts) " UNION ALL SELECT stream, " counts " FROM " table " GROUP BY stream"
#define OCCUPANCY_LESS                                                                             \
    "SELECT stream, ready, timer, parked FROM occupancy" THERE("ready", "-count(*), 0, 0")         \
        THERE("timer", "0, -count(*), 0") THERE("parked", "0, 0, -count(*)")

static const struct verify_rule rules[] = {
    {"SELECT id FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer UNION ALL"
     " SELECT id FROM parked UNION ALL SELECT id FROM locks) AS p GROUP BY id HAVING count(*)>1"
     " LIMIT 100",
     "job", "is in more than one place"},
    {"SELECT j.id FROM job j WHERE NOT " INTAKE_HAS(
         "j.id") " AND j.retries>0 AND j.suspended=0 AND (" NO_PURGE_PENDING
                 " OR j.id IN (SELECT id FROM ready UNION ALL SELECT id FROM timer UNION ALL"
                 "  SELECT id FROM parked))"
                 " AND NOT EXISTS(SELECT 1 FROM locks l WHERE l.id=j.id)"
                 " AND NOT EXISTS(SELECT 1 FROM ready r WHERE r.stream=j.stream AND "
                 "r.rank= ~j.priority"
                 "  AND r.place=j.place AND r.id=j.id AND r.lane IS NOT DISTINCT FROM "
                 "nullif(j.lane, 0))"
                 " AND NOT EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane AND p.stream=j.stream"
                 "  AND p.rank= ~j.priority AND p.place=j.place AND p.id=j.id)"
                 " AND NOT EXISTS(SELECT 1 FROM timer t WHERE t.due=j.due AND t.id=j.id"
                 "  AND t.stream=j.stream AND t.rank= ~j.priority AND t.lane IS NOT DISTINCT FROM "
                 "nullif(j.lane, 0)) "
                 "LIMIT 100",
     "job", "is in no place, or not where its row says"},
    {"SELECT r.id FROM ready r JOIN job j ON j.id=r.id WHERE r.plain IS NOT NULL"
     " AND (j.due IS NOT NULL OR j.repeat IS NOT NULL OR j.batch IS NOT NULL OR j.crashes<>0"
     " OR j.lane IS NOT NULL OR j.instance_id IS NOT NULL) LIMIT 100",
     "job", "is plain by its place, and not by its row"},
    {"SELECT r.id FROM ready r JOIN job j ON j.id=r.id WHERE r.plain=2"
     " AND (coalesce(j.lane_key, j.instance, j.root, j.activity, j.tenant, j.unique_key,"
     " j.schedule, j.trace, j.message, j.term) IS NOT NULL OR j.execution IS NOT NULL OR "
     "j.attempt<>1)"
     " LIMIT 100",
     "job", "is bare by its place, and not by its row"},
    {"SELECT p.id FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer UNION ALL"
     " SELECT id FROM parked) p JOIN job j ON j.id=p.id WHERE j.retries=0 OR j.suspended<>0"
     " LIMIT 100",
     "job", "is dead or suspended, yet it waits to run"},
    {"SELECT p.id FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer UNION ALL"
     " SELECT id FROM parked UNION ALL SELECT id FROM locks) p WHERE " INTAKE_HAS(
         "p.id") " LIMIT 100",
     "job", "waits or runs before it was released"},
    {"SELECT p.id FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer UNION ALL"
     " SELECT id FROM parked UNION ALL SELECT id FROM locks) p"
     " WHERE NOT EXISTS(SELECT 1 FROM job j WHERE j.id=p.id) LIMIT 100",
     "job", "waits or runs but has no row"},
    /* Once tenants take turns, places are no instants. The late run of a schedule has the place of
     * the first that it stands for. */
    {"SELECT j.id FROM live j WHERE j.place<>coalesce(j.due, j.created)"
     " AND (j.repeat IS NULL OR j.place>j.due)"
     " AND NOT EXISTS(SELECT 1 FROM meta WHERE key='fair_by') LIMIT 100",
     "job", "has a wrong place"},
    {"SELECT j.id FROM job j WHERE NOT EXISTS(SELECT 1 FROM stream s JOIN definition d"
     " ON d.id=s.definition WHERE s.id=j.stream) LIMIT 100",
     "job", "has no definition"},
    {"SELECT l.id FROM locks l WHERE NOT EXISTS"
     "(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.state<>0) LIMIT 100",
     "job", "is locked by an executor that is gone"},
    {"SELECT l.id FROM locks l JOIN executor e ON e.id=l.owner WHERE e.kind=1 AND l.until IS NULL"
     " LIMIT 100",
     "job", "is locked by a worker outside without an end"},
    {"SELECT l.id FROM limited l WHERE NOT EXISTS"
     "(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.state<>0) LIMIT 100",
     "job", "counts against a limit for an executor that is gone"},
    {"SELECT l.id FROM limited l JOIN locks k ON k.id=l.id AND k.token=l.token"
     " WHERE k.owner<>l.owner OR NOT EXISTS(SELECT 1 FROM stream s WHERE s.id=k.stream"
     " AND s.definition=l.definition) LIMIT 100",
     "job", "counts against a limit that is not its own"},
    {"SELECT o.job FROM occurrence o WHERE o.owner IS NOT NULL AND NOT EXISTS"
     "(SELECT 1 FROM executor e WHERE e.id=o.owner AND e.state<>0) LIMIT 100",
     "job", "is a run of its schedule for an executor that is gone"},
    {"SELECT l.id FROM lane l WHERE l.owner<>0 AND NOT EXISTS"
     "(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.state<>0) LIMIT 100",
     "lane", "runs for an executor that is gone"},
    {"SELECT min(p.id) FROM parked p WHERE NOT EXISTS(SELECT 1 FROM lane a WHERE a.id=p.lane)"
     " AND NOT EXISTS(SELECT 1 FROM ready r WHERE r.stream=p.stream AND r.rank=p.rank"
     "  AND r.lane=p.lane) GROUP BY p.lane, p.stream, p.rank LIMIT 100",
     "job", "is parked behind a lane that does not run"},
    {"SELECT e.job FROM ended e JOIN stream s ON s.id=e.stream"
     " JOIN definition d ON d.id=s.definition WHERE e.outcome=1 AND d.name LIKE 'process/%'"
     " AND d.name NOT LIKE '%:%' AND d.name NOT LIKE '%#%'"
     " AND e.instance IN (SELECT CAST(instance AS TEXT) FROM trail)"
     " AND e.job NOT IN (SELECT job FROM trail WHERE job IS NOT NULL) LIMIT 100",
     "job", "is successful in the log, yet the trail of its instance has no call of it"},
    {"SELECT i.id FROM incident i WHERE i.ended IS NULL AND i.job IS NOT NULL"
     " AND i.type<>'handlerStuck' AND i.definition IS NOT NULL" /* absent: of one without a row */
     " AND NOT EXISTS(SELECT 1 FROM live j WHERE j.id=i.job) LIMIT 100",
     "incident", "is open for a job that is gone"},
    {"SELECT i.job FROM incident i WHERE i.ended IS NULL AND i.job IS NOT NULL"
     " AND i.type<>'handlerStuck'"
     " GROUP BY i.job HAVING count(*)>1 LIMIT 100",
     "job", "has more than one open incident"},
    {"SELECT s.job FROM stuck s WHERE NOT EXISTS"
     "(SELECT 1 FROM executor e WHERE e.id=s.owner AND e.state<>0) LIMIT 100",
     "job", "has a run that does not end on an executor that is gone"},
    {"SELECT c.job FROM conflicts c WHERE c.n<1 OR NOT EXISTS"
     "(SELECT 1 FROM live j WHERE j.id=c.job AND j.message IS NOT NULL) LIMIT 100",
     "job", "has a count of conflicts that its row does not know of"},
    {"SELECT c.job FROM cycle c WHERE NOT EXISTS"
     "(SELECT 1 FROM live j WHERE j.id=c.job AND j.repeat IS NOT NULL AND j.repeat_done IS NULL)"
     " AND NOT " INTAKE_HAS("c.job") " LIMIT 100",
     "job", "has a cycle to go on with, yet it is gone or has made its next"},
    {"SELECT c.job FROM cycle c WHERE c.schedule IS NOT NULL AND NOT EXISTS"
     "(SELECT 1 FROM schedule s WHERE s.name=c.schedule AND s.job=c.job) LIMIT 100",
     "job", "waits for a schedule that does not know it"},
    {"SELECT s.name FROM schedule s JOIN live j ON j.id=s.job WHERE NOT EXISTS"
     "(SELECT 1 FROM cycle c WHERE c.job=s.job AND c.schedule=s.name) LIMIT 100",
     "schedule", "has a job that will make no next one"},
    {"SELECT u.job FROM unique_key u WHERE u.until IS NULL"
     " AND NOT EXISTS(SELECT 1 FROM live j WHERE j.id=u.job) AND NOT " INTAKE_HAS(
         "u.job") " LIMIT 100",
     "job", "is gone and holds a unique key"},
    {"SELECT j.id FROM live j WHERE j.unique_key IS NOT NULL AND (j.retries>0)<>"
     "EXISTS(SELECT 1 FROM unique_key u JOIN stream s ON s.definition=u.definition"
     " WHERE s.id=j.stream AND u.key=j.unique_key AND u.job=j.id) LIMIT 100",
     "job", "is alive without its unique key, or dead with it"},
    {"SELECT d.name FROM definition d WHERE d.waiting<>(SELECT count(*) FROM counted j"
     " JOIN stream s ON s.id=j.stream WHERE s.definition=d.id AND j.retries>0) LIMIT 100",
     "definition", "counts its backlog wrong"},
    {"SELECT b.lane FROM lane_backlog b WHERE b.waiting<>(SELECT count(*) FROM counted j"
     " JOIN stream s ON s.id=j.stream WHERE s.definition=b.definition AND j.lane=b.lane"
     "  AND j.retries>0) LIMIT 100",
     "lane", "counts its backlog wrong"},
    {"SELECT d.name FROM (" OCCUPANCY_LESS ") o LEFT JOIN stream s ON s.id=o.stream"
     " LEFT JOIN definition d ON d.id=s.definition"
     " GROUP BY o.stream, d.name HAVING sum(o.ready)<>0 OR sum(o.timer)<>0 OR sum(o.parked)<>0"
     " LIMIT 100",
     "definition", "does not count right where its jobs wait"},
    {"SELECT b.id FROM batch b LEFT JOIN (SELECT j.batch AS id, count(*) AS open,"
     " sum(CASE WHEN j.retries=0 THEN 1 ELSE 0 END) AS failed FROM live j JOIN stream s ON "
     "s.id=j.stream"
     " JOIN definition d ON d.id=s.definition WHERE j.batch IS NOT NULL"
     " AND d.name LIKE 'batch/%' GROUP BY j.batch) c ON c.id=b.id"
     " WHERE b.open<>coalesce(c.open, 0) OR b.failed<>coalesce(c.failed, 0) OR b.made>b.total"
     " LIMIT 100",
     "batch", "does not count its jobs right"},
    {"SELECT b.job FROM ended_by_job b WHERE NOT EXISTS"
     "(SELECT 1 FROM ended e WHERE e.seq=b.seq AND e.job=b.job) LIMIT 100",
     "job", "is filed under an end that is gone"},
    {"SELECT x.id FROM executor x WHERE x.debt<>0 AND x.state=0 LIMIT 100", "executor",
     "is gone, and nobody looks for the rows that it has left behind"},
    {"SELECT j.id FROM live j WHERE j.instance_id IS NOT NULL AND NOT EXISTS"
     "(SELECT 1 FROM instance i WHERE i.id=j.instance_id)"
     " AND " OPEN_TOKEN("coalesce(j.execution, 0)") " LIMIT 100",
     "job", "belongs to an instance that is gone"},
    {"SELECT t.id FROM user_task t WHERE NOT EXISTS"
     "(SELECT 1 FROM instance i WHERE i.id=t.instance)"
     " AND " OPEN_TOKEN("t.token") " LIMIT 100",
     "task", "belongs to an instance that is gone"},
    {"SELECT s.name FROM subscription s WHERE s.instance<>0 AND NOT EXISTS"
     "(SELECT 1 FROM instance i WHERE i.id=s.instance)"
     " AND " OPEN_TOKEN("s.token") " LIMIT 100",
     "the subscription to", "belongs to an instance that is gone"},
    {"SELECT s.name FROM subscription s WHERE s.instance=0 AND NOT EXISTS"
     "(SELECT 1 FROM process p WHERE p.current=s.token) LIMIT 100",
     "the subscription to", "starts a version that is not the current one"},
    /* A join that no token can reach is no damage: its incident tells of it. */
    {"SELECT i.id FROM instance i WHERE " WAITS_FOR_NOTHING
     " AND i.frame NOT LIKE '%,\"join\"%' LIMIT 100",
     "instance", "waits for nothing"},
    {"SELECT b.id FROM body b WHERE b.closed=0 AND NOT EXISTS"
     "(SELECT 1 FROM instance i WHERE i.id=b.instance) LIMIT 100",
     "body", "belongs to an instance that is gone"},
    {"SELECT t.id FROM body_turn t WHERE NOT EXISTS"
     "(SELECT 1 FROM body b WHERE b.id=t.body) LIMIT 100",
     "turn", "belongs to a body that is gone"},
    {"SELECT i.id FROM instance i WHERE i.rev>="
     "(SELECT value FROM meta WHERE key='next_token') LIMIT 100",
     "instance", "has a frame that no run has written"},
    {"SELECT i.id FROM instance i JOIN past p ON p.id=i.id LIMIT 100", "instance",
     "has ended, and goes on"},
    {"SELECT i.id FROM instance i WHERE NOT EXISTS"
     "(SELECT 1 FROM process_version v WHERE v.id=i.version) LIMIT 100",
     "instance", "has a version that is not known"},
    {"SELECT p.key FROM process p WHERE NOT EXISTS"
     "(SELECT 1 FROM process_version v WHERE v.id=p.current AND v.key=p.key) LIMIT 100",
     "process", "has no current version"},
    {"SELECT max(id) FROM job HAVING max(id)>=(SELECT value FROM meta WHERE key='next_id')", "job",
     "has an id that was never handed out"},
};

static bool verify_say(struct store *store, json_t *found, const struct verify_rule *rule,
                       struct error *error) {
    struct row *rows = db_prepare(&store->db, rule->sql, NULL, 0, error);
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        const char *text = row_text(rows, 0);
        json_t *says = rule->says
                           ? json_sprintf("%s %s %s", rule->subject, text ? text : "?", rule->says)
                           : json_string(text);
        json_array_append_new(found, says);
    }
    db_forget(&store->db, rows);
    return step == NO;
}

/* One answer after the other, those of the engine first. */
static bool verify_all(struct store *store, json_t *found, const struct store_heard *heard,
                       struct error *error) {
    const struct verify_rule *own = store->engine->verify;
    int64_t count = 0, done = 0, all = sizeof rules / sizeof *rules;
    while (own[count].sql)
        count++;
    for (all += count; done < all; done++) {
        if (heard)
            heard->tell(heard->arg, done, all);
        if (!verify_say(store, found, done < count ? &own[done] : &rules[done - count], error))
            return false;
    }
    return instances_verify(store, found, error) && texts_verify(store, found, error);
}

json_t *store_verify(struct store *store, const struct store_heard *heard, struct error *error) {
    bool own = false;
    json_t *found = json_array();
    if (!look_begin(store, &own, error))
        return json_kept(found, false);
    db_question_patient(&store->db);
    bool done = look_whole(store, true, error) && verify_all(store, found, heard, error);
    look_end(store, own);
    return json_kept(found, done);
}
