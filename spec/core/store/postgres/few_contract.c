/* few_contract.c - what questions for few jobs cost on a server, in rows that it reads. Run with
 * spec/postgres/contracts. */
#include "../few.h"

static int64_t rows_read(struct contract *c) {
    int64_t rows = -1;
    db_run(&c->store->db, &c->error, "SELECT pg_stat_force_next_flush()", "");
    db_value(&c->store->db, &c->error, &rows,
             "SELECT CAST(coalesce(sum(idx_tup_fetch+seq_tup_read), 0)+(SELECT"
             " coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes WHERE"
             " schemaname=current_schema()) AS BIGINT) FROM pg_stat_user_tables"
             " WHERE schemaname=current_schema()",
             "");
    return rows;
}

static int64_t cost_since(struct contract *c) {
    static int64_t before;
    const int64_t last = before;
    before = rows_read(c);
    return before - last;
}

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
