/* old_reader_contract.c - who keeps an old state of the database, as stats tells it. Run with
 * spec/postgres/contracts. */
#include "../../contract.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/transaction.h"
#include "store/rules/ground/kinds.h"
#include <poll.h>

static bool is_told(struct contract *c, int64_t process) {
    json_t *stats = store_stats(c->store, NOW, &c->error), *log = json_object_get(stats, "log");
    const char *program = json_string_value(json_object_get(log, "program"));
    bool told = json_integer_value(json_object_get(log, "process")) == process && program &&
                strcmp(program, "a dump") == 0 && json_is_real(json_object_get(log, "held_age")) &&
                json_is_null(json_object_get(log, "bytes"));
    json_decref(stats);
    return told;
}

/* Other contracts read in the same database, each for a moment, or longer on a busy machine. */
static bool comes(struct contract *c, int64_t process, bool told) {
    for (int i = 0; i < 6000 && is_told(c, process) != told; i++)
        poll(NULL, 0, 10);
    return is_told(c, process) == told;
}

static void reader(struct contract *c) {
    struct store *other = store_open(c->url, STORE_READ, &c->settings, &c->error);
    bool fine = other && db_execute(&other->db, "SET application_name TO 'a dump'", &c->error) &&
                postgres_look(other, &c->error);
    int64_t process = fine ? postgres_backend(other) : 0;
    fine = fine && comes(c, process, true);
    if (other)
        postgres_look_end(other);
    fine = fine && comes(c, process, false);
    store_close(other);
    EXPECT(fine);
}

static const struct check checks[] = {
    {"the oldest reader is told until it has ended", reader},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
