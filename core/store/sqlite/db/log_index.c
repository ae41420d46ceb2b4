#include "store/sqlite/db/log_index.h"
#include <string.h>

enum {
    REGION = 32768,   /* bytes of the index that are mapped at once */
    LOCKS = 120,      /* its first byte that is locked, */
    FIRST_READER = 3, /* and behind it the first one of a reader's */
    HEAD_WORDS = sizeof(struct index_head) / sizeof(uint32_t)
};
_Static_assert(sizeof(struct index_head) == 48, "the head of the log's index has 48 bytes");

sqlite3_file *index_file(struct store *store, int which) {
    sqlite3_file *file = NULL;
    sqlite3_file_control(store->db.handle, "main", which, &file);
    return file && file->pMethods ? file : NULL;
}

static const volatile uint32_t *index_map(struct store *store) {
    sqlite3_file *file = index_file(store, SQLITE_FCNTL_FILE_POINTER);
    void volatile *map = NULL;
    if (!file || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, REGION, 0, &map) != SQLITE_OK)
        return NULL;
    return map;
}

/* Others may be writing it. */
__attribute__((no_sanitize("thread"))) static void words_copy(uint32_t *words, size_t count,
                                                              const volatile uint32_t *map) {
    for (size_t i = 0; i < count; i++)
        words[i] = map[i];
}

/* Both heads are read, and count only if they are the same. */
bool index_read(struct store *store, struct index_head *head) {
    uint32_t words[2 * HEAD_WORDS];
    const volatile uint32_t *map = index_map(store);
    if (!map)
        return false;
    words_copy(words, 2 * HEAD_WORDS, map);
    memcpy(head, words, sizeof *head);
    return head->set && memcmp(words, words + HEAD_WORDS, sizeof *head) == 0;
}

bool index_readers(struct store *store, struct index_readers *readers) {
    uint32_t words[1 + READERS];
    const volatile uint32_t *map = index_map(store);
    if (!map)
        return false;
    words_copy(words, 1 + READERS, map + (size_t)(2 * HEAD_WORDS));
    readers->filed = words[0];
    memcpy(readers->marks, words + 1, sizeof readers->marks);
    return true;
}

int64_t index_page(const struct index_head *head) {
    return head->page_size == 1 ? 65536 : head->page_size;
}

bool index_is_held(struct store *store, int place) {
    const int lock = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
    sqlite3_file *file = index_file(store, SQLITE_FCNTL_FILE_POINTER);
    int code = file->pMethods->xShmLock(file, FIRST_READER + place, 1, lock);
    if (code == SQLITE_OK)
        file->pMethods->xShmLock(file, FIRST_READER + place, 1,
                                 SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return (code & 0xff) == SQLITE_BUSY;
}

int index_lock(int place) {
    return LOCKS + FIRST_READER + place;
}
