#include "power_witness.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = 80 };

struct witness {
    sqlite3 *database;
    sqlite3_stmt *tables[TABLES];
    int count;
};

void witness_close(struct witness *witness) {
    if (!witness)
        return;
    for (int i = 0; i < witness->count; i++)
        sqlite3_finalize(witness->tables[i]);
    sqlite3_close(witness->database);
    free(witness);
}

static bool witness_tables(struct witness *witness) {
    sqlite3_stmt *names = NULL;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(witness->database,
                           "SELECT 'SELECT * FROM \"' || name || '\"' FROM sqlite_schema"
                           " WHERE type='table' UNION ALL SELECT 'SELECT * FROM sqlite_schema'",
                           -1, &names, NULL) != SQLITE_OK)
        return false;
    while ((step = sqlite3_step(names)) == SQLITE_ROW && witness->count < TABLES)
        if (sqlite3_prepare_v2(witness->database, (const char *)sqlite3_column_text(names, 0), -1,
                               &witness->tables[witness->count++], NULL) != SQLITE_OK)
            break;
    sqlite3_finalize(names);
    return step == SQLITE_DONE;
}

struct witness *witness_open(const char *path) {
    struct witness *witness = calloc(1, sizeof *witness);
    if (!witness)
        return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &witness->database, flags, "unix") == SQLITE_OK &&
        sqlite3_db_config(witness->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) ==
            SQLITE_OK &&
        witness_tables(witness))
        return witness;
    witness_close(witness);
    return NULL;
}

static uint64_t witness_mix(uint64_t sum, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    for (; size > 0; size--, bytes++)
        sum = (sum ^ *bytes) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t witness_column(uint64_t sum, sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    int64_t number = type == SQLITE_INTEGER ? sqlite3_column_int64(row, column) : type;
    sum = witness_mix(sum, &number, sizeof number);
    if (type == SQLITE_INTEGER || type == SQLITE_NULL)
        return sum;
    const void *data = sqlite3_column_blob(row, column);
    return witness_mix(sum, data, (size_t)sqlite3_column_bytes(row, column));
}

static uint64_t witness_tables_sum(struct witness *witness) {
    uint64_t sum = 1;
    for (int i = 0; i < witness->count; i++) {
        sqlite3_stmt *row = witness->tables[i];
        int step;
        while ((step = sqlite3_step(row)) == SQLITE_ROW)
            for (int column = 0; column < sqlite3_column_count(row); column++)
                sum = witness_column(sum, row, column);
        sqlite3_reset(row);
        if (step != SQLITE_DONE)
            return 0;
        sum = witness_mix(sum, &i, sizeof i);
    }
    return sum | 1;
}

uint64_t witness_sum(struct witness *witness) {
    if (!witness || sqlite3_exec(witness->database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return 0;
    uint64_t sum = witness_tables_sum(witness);
    sqlite3_exec(witness->database, "COMMIT", NULL, NULL, NULL);
    return sum;
}
