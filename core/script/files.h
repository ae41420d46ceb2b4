/* files.h - a growing list of script files, and reading one from disk. Private to script/. */
#pragma once

#include "base/clock.h"
#include "script/folder.h"
#include <sha2.h>

#define FILES_MAX 10000
#define FILE_SIZE_MAX (1024 * 1024)
#define MODEL_SIZE_MAX (8 * 1024 * 1024) /* of a process in BPMN */

struct files {
    struct folder_file *list;
    size_t count;
    json_t *warnings; /* array of texts, borrowed */
    const char *only; /* the handler's file that is read of all, see folder_read_part; NULL: all */
    struct files_mark *mark; /* of those that files_read meets, also unread ones; NULL: unwanted */
};

struct files_mark {
    SHA2_CTX hash;
    time_ms since; /* a file that has changed later is too young: it may change unseen */
    bool young;
};

/* Adds a file; `text` is copied. False: too many, too large, or no memory. */
bool files_add(struct files *files, const char *path, const char *text, size_t size, bool stock,
               struct error *error);

/* Adds what a script folder holds: the known kinds, recursively, and moonshift.lua; warns about the
 * rest. */
bool files_read(struct files *files, const char *root, struct error *error);

/* Sorts by path; of equal paths the one added first stays. False: no memory. */
bool files_sort(struct files *files, struct error *error);

void files_clear(struct files *files);
