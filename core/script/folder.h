/* folder.h - the bytes of a script folder: read once, then immutable and shared by every worker
 * (rules §13). A generation IS a folder: what a worker loads later (require "lib.x") still comes
 * from these bytes. */
#pragma once

#include "base/error.h"
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { FOLDER_HASH = 65 }; /* bytes of its text */

struct folder_file {
    char *path; /* relative, '/'-separated: "handlers/billing/send_invoice.lua" */
    char *text; /* NUL-terminated */
    size_t size;
    bool stock; /* from the stock scripts; not part of the deployment's hash */
};

struct folder {
    size_t count; /* files, sorted by path, unique */
    struct folder_file *files;
    char *path;             /* as the user gave it, for messages; "" for none */
    char *name;             /* of the deployment, unless a setting says another one */
    char hash[FOLDER_HASH]; /* hex of the user's files (not the stock ones) */
    char mark[FOLDER_HASH]; /* hex of what the disk says of these files: the same mark, the same
                               texts; "": not from disk, or one has just changed */
    bool part;              /* see folder_read_part; its hash is not known */
    int64_t deployment;     /* of the store that the files come from; 0: from disk */
    bool all_stock;         /* has every stock handler, whatever the setting stock says */
    json_t *models;         /* once it was checked: of struct script_report; else NULL */
    json_t *versions;       /* the same */
    json_t *warnings;       /* array of texts: unknown sub-folders and the like */
    /* a reference count follows, private */
};

/* Reads handlers, priorities, retries, listeners, schedules, batches, hooks, lib (*.lua,
 * recursively, no dot-files) and moonshift.lua of each path in turn (the first one wins a clash),
 * the stock scripts behind them. `count` 0: the stock scripts alone. Limits: 10 000 files, 1 MiB a
 * file. NULL: error names the path. */
struct folder *folder_read(const char *const *paths, size_t count, struct error *error);

/* Reads what jobs of one handler are created with: no other handler, no batch type, schedule or
 * process and nothing that processes call. The mark is that of the whole. The whole is read if it
 * has hooks, which may create other jobs, if it has no mark, or no such handler. */
struct folder *folder_read_part(const char *path, const char *handler, struct error *error);

/* Makes a folder of the files of a deployment, [{ path, text }] as the store keeps them, the stock
 * scripts behind them. */
struct folder *folder_from_json(const json_t *files, const char *name, int64_t deployment,
                                struct error *error);
/* The same without a hash: its texts are all that is asked for. */
struct folder *folder_from_texts(const json_t *files, const char *name, int64_t deployment,
                                 struct error *error);

/* One owner more / less; any thread. */
struct folder *folder_retain(struct folder *folder);
void folder_release(struct folder *folder);

/* By path, or NULL. */
const struct folder_file *folder_find(const struct folder *folder, const char *path);

/* True if the user's files hold nothing that could run: no handler, batch type or schedule. */
bool folder_idle(const struct folder *folder);

/* Evaluates moonshift.lua in a bare, limited state: its table as a JSON object; {} if there is
 * none. NULL: error names file, line and reason. */
json_t *folder_settings(const struct folder *folder, struct error *error);
