#include "error_memory.h"
#include "power_disk.h"
#include <jansson.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* The linker sends all requests of this program here. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

static sqlite3_mem_methods memory;
static int left, failures;
static bool lasts;

void memory_fails(int nth, bool lasting) {
    left = nth;
    lasts = lasting;
    if (nth)
        failures = 0;
}

int memory_failures(void) {
    return failures;
}

static bool refused(void) {
    if (left <= 0 || disk_busy)
        return false;
    if (left > 1) {
        left--;
        return false;
    }
    if (!lasts)
        left = 0;
    failures++;
    return true;
}

/* ---- SQLite's ---- */

static void *memory_new(int size) {
    return refused() ? NULL : memory.xMalloc(size);
}

static void *memory_more(void *block, int size) {
    return refused() ? NULL : memory.xRealloc(block, size);
}

bool memory_install(void) {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) != SQLITE_OK)
        return false;
    sqlite3_mem_methods failing = memory;
    failing.xMalloc = memory_new;
    failing.xRealloc = memory_more;
    json_set_alloc_funcs(__wrap_malloc, free);
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK;
}

/* ---- ours, and the JSON library's ---- */

void *__wrap_malloc(size_t size) {
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return refused() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
