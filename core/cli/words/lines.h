/* lines.h - a file of lines that is read twice: a pipe is spooled to a temporary file, up to 4 GiB
 * or half of the room there is. Memory is bounded by the longest line that is allowed. */
#pragma once

#include "base/error.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

struct lines {
    const char *name; /* for messages: the path, or "standard input" */
    FILE *file;
    struct stat seen; /* when it was opened */
    bool spooled;
    size_t max; /* bytes of a line */
    char *text; /* the present line, NUL-terminated, without its newline */
    size_t size;
    char *buffer;    /* what was read, */
    size_t from, to; /* and the part of it that is still to come */
    bool ended;      /* nothing more can be read */
    int64_t number;  /* of the present line, from 1 */
    bool too_long;   /* it was cut at `max` */
    off_t at;        /* where the present line begins in the file */
    off_t
        start;  /* of the first line: behind a byte order mark; standard input may stand anywhere */
    off_t read; /* bytes so far */
    off_t total; /* bytes in all */
};

/* A place between two lines. */
struct lines_mark {
    off_t read;
    int64_t number; /* of the line before */
};

/* `path` "-": standard input. lines_close in any case afterwards; until then INT and TERM only make
 * the next line an error (ERROR_INTERRUPTED). */
bool lines_open(struct lines *lines, const char *path, size_t max, struct error *error);
void lines_close(struct lines *lines);

/* The next line; false at the end, or with error->code set if it could not be read. */
bool lines_next(struct lines *lines, struct error *error);

/* `size` bytes of the file from `at` on, and a NUL: a line that was read before. */
bool lines_get(const struct lines *lines, off_t at, char *text, size_t size, struct error *error);

/* Where the next line begins. */
struct lines_mark lines_mark(const struct lines *lines);

/* To a place again; one that is all zero is before the first line. False: the file was changed
 * meanwhile. */
bool lines_again(struct lines *lines, struct lines_mark mark, struct error *error);
