#include "cli/words/lines.h"
#include "base/text.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define READ_SIZE ((size_t)256 * 1024) /* bytes at once */
#define SPOOL_MAX ((int64_t)4 << 30)   /* bytes of a pipe that are kept */

static volatile sig_atomic_t interrupted;

static void signal_note(int number) {
    (void)number;
    interrupted = 1;
}

static bool failed(const struct lines *lines, struct error *error) {
    if (interrupted)
        return error_set(error, ERROR_INTERRUPTED, "interrupted");
    return error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, "%s: %s", lines->name,
                     strerror(errno));
}

/* A file without a name, in TMPDIR or /tmp. */
static FILE *file_temporary(void) {
    const char *directory = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/moonshift-XXXXXX",
             directory && directory[0] ? directory : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    unlink(path);
    FILE *file = fdopen(fd, "w+");
    if (!file)
        close(fd);
    return file;
}

/* What has no end must not fill the disk: at most half of what is free. */
static int64_t spool_room(FILE *spool) {
    struct statvfs disk;
    if (fstatvfs(fileno(spool), &disk) != 0)
        return SPOOL_MAX;
    int64_t half = (int64_t)disk.f_bavail / 2 * (int64_t)disk.f_frsize;
    return half < SPOOL_MAX ? half : SPOOL_MAX;
}

/* Bytes of the line that goes on behind `part`; `before`: what there was of it. */
static size_t line_open(const char *part, size_t size, size_t before) {
    const char *newline = memrchr(part, '\n', size);
    return newline ? (size_t)(part + size - newline) - 1 : before + size;
}

static bool spool_copy(struct lines *lines, FILE *spool, struct error *error) {
    char part[65536];
    size_t got, open = 0;
    int64_t room = spool_room(spool);
    errno = 0;
    while (!interrupted && (got = fread(part, 1, sizeof part, lines->file)) > 0) {
        open = line_open(part, got, open);
        room -= (int64_t)got;
        if (open > lines->max)
            return error_set(error, ERROR_INVALID,
                             "%s: a line longer than %zu bytes (nothing written)", lines->name,
                             lines->max);
        if (room < 0)
            return error_set(error, ERROR_FULL,
                             "%s: has no end, or is too long to be kept while it is checked"
                             " (nothing written; expected a file, or several parts)",
                             lines->name);
        if (fwrite(part, 1, got, spool) != got)
            return error_set(error, ERROR_IO, "temporary file: %s", strerror(errno));
    }
    if (interrupted || ferror(lines->file))
        return failed(lines, error);
    return fflush(spool) == 0 || error_set(error, ERROR_IO, "temporary file: %s", strerror(errno));
}

static void file_close(struct lines *lines) {
    if (lines->file && lines->file != stdin)
        fclose(lines->file);
    lines->file = NULL;
}

static bool spool(struct lines *lines, struct error *error) {
    FILE *spool = file_temporary();
    if (!spool)
        return error_set(error, ERROR_IO, "temporary file: %s", strerror(errno));
    bool fine = spool_copy(lines, spool, error);
    file_close(lines);
    lines->file = spool;
    lines->spooled = true;
    rewind(spool);
    return fine && (fstat(fileno(spool), &lines->seen) == 0 || failed(lines, error));
}

bool lines_open(struct lines *lines, const char *path, size_t max, struct error *error) {
    bool standard = strcmp(path, "-") == 0;
    *lines = (struct lines){.name = standard ? "standard input" : path, .max = max};
    struct sigaction action = {.sa_handler = signal_note}; /* no SA_RESTART: reads end */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    lines->file = standard ? stdin : fopen(path, "re");
    if (!lines->file || fstat(fileno(lines->file), &lines->seen) != 0)
        return failed(lines, error);
    if (S_ISDIR(lines->seen.st_mode)) {
        errno = EISDIR;
        return failed(lines, error);
    }
    lines->buffer = malloc(max + READ_SIZE + 1);
    if (!lines->buffer)
        return error_no_memory(error);
    if (!S_ISREG(lines->seen.st_mode) && !spool(lines, error))
        return false;
    lines->start = ftello(lines->file);
    char mark[4];
    ssize_t got = pread(fileno(lines->file), mark, sizeof mark, lines->start);
    lines->start += (off_t)utf8_mark(mark, got > 0 ? (size_t)got : 0);
    if (lseek(fileno(lines->file), lines->start, SEEK_SET) != lines->start)
        return failed(lines, error);
    lines->total = lines->seen.st_size - lines->start;
    return true;
}

void lines_close(struct lines *lines) {
    file_close(lines);
    free(lines->buffer);
    lines->buffer = lines->text = NULL;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* Reads more behind what is still to come, which is at most `max` bytes. */
static bool read_more(struct lines *lines, struct error *error) {
    if (interrupted)
        return failed(lines, error);
    memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
    lines->to -= lines->from;
    lines->from = 0;
    ssize_t got;
    do
        got = read(fileno(lines->file), lines->buffer + lines->to, READ_SIZE);
    while (got < 0 && errno == EINTR && !interrupted);
    if (got < 0)
        return failed(lines, error);
    lines->to += (size_t)got;
    lines->ended = got == 0;
    return true;
}

/* The next `size` bytes and its newline, if it has one, are the present line. */
static bool take_line(struct lines *lines, size_t size, bool newline) {
    lines->text = lines->buffer + lines->from;
    lines->text[size] = '\0';
    lines->size = size;
    lines->from += size + newline;
    lines->at = lines->start + lines->read;
    lines->read += (off_t)(size + newline);
    lines->number++;
    return true;
}

/* It is cut at its limit; the rest is passed over. */
static bool take_long_line(struct lines *lines, struct error *error) {
    size_t head = lines->max;
    const char *newline = NULL;
    for (;;) {
        char *rest = lines->buffer + lines->from + head;
        size_t size = lines->to - lines->from - head;
        newline = memchr(rest, '\n', size);
        if (newline || lines->ended)
            break;
        lines->read += (off_t)size;
        lines->to -= size;
        if (!read_more(lines, error))
            return false;
    }
    size_t end = newline ? (size_t)(newline - lines->buffer) + 1 : lines->to;
    lines->read += (off_t)(end - lines->from - head);
    take_line(lines, head, false);
    lines->from = end;
    lines->too_long = true;
    return true;
}

bool lines_next(struct lines *lines, struct error *error) {
    size_t seen = 0;
    lines->too_long = false;
    for (;;) {
        char *start = lines->buffer + lines->from;
        size_t there = lines->to - lines->from;
        const char *newline = memchr(start + seen, '\n', there - seen);
        size_t size = newline ? (size_t)(newline - start) : there;
        if (size > lines->max)
            return take_long_line(lines, error);
        if (newline || (lines->ended && there))
            return interrupted ? failed(lines, error) : take_line(lines, size, newline != NULL);
        if (lines->ended || !read_more(lines, error))
            return false;
        seen = there;
    }
}

bool lines_get(const struct lines *lines, off_t at, char *text, size_t size, struct error *error) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fileno(lines->file), text + done, size - done, at + (off_t)done);
        if (got < 0 && errno != EINTR)
            return failed(lines, error);
        if (got == 0)
            return error_set(error, ERROR_CONFLICT, "the file was changed while it was read");
        done += got > 0 ? (size_t)got : 0;
    }
    text[size] = '\0';
    return true;
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

struct lines_mark lines_mark(const struct lines *lines) {
    return (struct lines_mark){lines->read, lines->number};
}

bool lines_again(struct lines *lines, struct lines_mark mark, struct error *error) {
    struct stat now;
    off_t at = lines->start + mark.read;
    if (fstat(fileno(lines->file), &now) != 0 || lseek(fileno(lines->file), at, SEEK_SET) != at)
        return failed(lines, error);
    lines->from = lines->to = 0;
    lines->ended = false;
    lines->number = mark.number;
    lines->read = mark.read;
    return lines->spooled ||
           (now.st_size == lines->seen.st_size && same_time(now.st_mtim, lines->seen.st_mtim)) ||
           error_set(error, ERROR_CONFLICT, "%s was changed while it was read (nothing written)",
                     lines->name);
}
