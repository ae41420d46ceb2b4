/* lines.c - a file of lines: read twice it is the same twice, and together the lines are the file.
 */
#include "cli/words/lines.h"
#include "../fuzz.h"
#include "base/text.h"
#include <sys/mman.h>
#include <unistd.h>

#define LINE_MAX_SIZE 40

/* The lines put together again; a cut one as far as it was read. */
static struct text read_all(struct lines *lines) {
    struct text all = {0};
    struct error error = {0};
    int64_t number = 0;
    while (lines_next(lines, &error)) {
        PROMISE(lines->number == ++number && lines->size <= LINE_MAX_SIZE);
        PROMISE(lines->text[lines->size] == 0 && lines->too_long <= (lines->size == LINE_MAX_SIZE));
        text_append(&all, lines->text, lines->size);
        text_append(&all, lines->too_long ? "…\n" : "\n", lines->too_long ? 4 : 1);
    }
    PROMISE(error.code == ERROR_NONE && lines->read == lines->total);
    return all;
}

static struct text expected(const uint8_t *data, size_t size) {
    struct text all = {0};
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        bool cut = length > LINE_MAX_SIZE;
        text_append(&all, (const char *)data + at, cut ? LINE_MAX_SIZE : length);
        text_append(&all, cut ? "…\n" : "\n", cut ? 4 : 1);
        at += length + 1;
    }
    return all;
}

static void same(struct text a, struct text b) {
    PROMISE(a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0));
    text_clear(&a);
}

void fuzz_lines(const uint8_t *data, size_t size) {
    char path[64];
    struct error error = {0};
    struct lines lines;
    int fd = memfd_create("lines", MFD_CLOEXEC);
    PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    PROMISE(lines_open(&lines, path, LINE_MAX_SIZE, &error));
    struct text whole = expected(data, size);
    same(read_all(&lines), whole);
    PROMISE(lines_again(&lines, (struct lines_mark){0}, &error));
    same(read_all(&lines), whole);
    text_clear(&whole);
    lines_close(&lines);
    close(fd);
}
