#include "base/log.h"
#include "base/calendar.h"
#include "base/json.h"
#include "base/text.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum log_format line_format = LOG_OFF;
static enum log_level line_level = LOG_INFO;
static void (*sink)(void *arg, const char *line);
static void *sink_arg;
static _Atomic int64_t dropped; /* lines that nobody could take */
static atomic_flag writing = ATOMIC_FLAG_INIT;

void log_configure(enum log_format format, enum log_level level) {
    line_format = format;
    line_level = level;
}

void log_sink(void (*write_line)(void *arg, const char *line), void *arg) {
    sink = write_line;
    sink_arg = arg;
}

/* Words may stand bare; everything else is quoted as in JSON. */
static bool is_bare(const char *text) {
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == '"' || *at == '=' || *at == '\\')
            return false;
    return *text != 0 && !utf8_has_hidden(text);
}

/* Begins a value: its name, as `keys` has it. */
static void put_name(struct text *line, const char *name, size_t size) {
    if (line_format == LOG_LOGFMT) {
        text_push(line, " ", line->size > 0);
        text_push(line, name, size);
        text_push(line, "=", 1);
        return;
    }
    text_push(line, line->size > 0 ? "," : "{", 1);
    json_add_text(line, name, size);
    text_push(line, ":", 1);
}

static void put_text(struct text *line, const char *text) {
    if (line_format == LOG_LOGFMT && is_bare(text))
        text_push(line, text, strlen(text));
    else
        json_add_text(line, text, strlen(text));
}

/* A text of anybody's, cut if it is longer. */
static void put_clean(struct text *line, const char *text, size_t max) {
    char *clean = utf8_clean(text, strlen(text), max);
    line->failed = line->failed || !clean;
    if (clean)
        put_text(line, clean);
    free(clean);
}

static void put_time(struct text *line, time_ms time) {
    char text[TIME_TEXT_SIZE];
    time_format(time, text);
    if (*text)
        put_text(line, text);
    else if (line_format == LOG_JSON)
        text_push(line, "null", 4);
}

/* The values as `keys` lists them; a text that is NULL is left out. */
static void put_values(struct text *line, const char *keys, va_list *values, size_t max) {
    while (*keys) {
        size_t size = strcspn(keys, ":");
        char kind = keys[size + 1];
        const char *text = kind == 's' ? va_arg(*values, const char *) : NULL;
        if (kind != 's' || text)
            put_name(line, keys, size);
        switch (kind) {
        case 's':
            if (text)
                put_clean(line, text, max);
            break;
        case 'd':
            json_add_integer(line, va_arg(*values, int));
            break;
        case 'l':
            json_add_integer(line, va_arg(*values, int64_t));
            break;
        case 't':
            put_time(line, va_arg(*values, time_ms));
            break;
        default:
            abort(); /* the source has a letter that log.h does not list */
        }
        keys += size + 2;
        keys += *keys == ' ';
    }
}

/* False: nobody takes it now. A pipe that says it is writable has room for PIPE_BUF bytes; only one
 * thread at a time relies on that. */
static bool put_line(const char *line, size_t size) {
    ssize_t done = send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done >= 0 || errno != ENOTSOCK)
        return done == (ssize_t)size;
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (size > PIPE_BUF || poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
        return false;
    do
        done = write(STDERR_FILENO, line, size);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)size;
}

static void emit(struct text *line, int64_t lost) {
    if (sink) {
        sink(sink_arg, line->data ? line->data : "");
        return;
    }
    text_append(line, "\n", 1);
    while (atomic_flag_test_and_set(&writing))
        sched_yield();
    if (line->failed || !put_line(line->data, line->size))
        atomic_fetch_add(&dropped, lost + 1);
    atomic_flag_clear(&writing);
}

static void put_head(struct text *line, enum log_level level, const char *event) {
    static const char *const levels[] = {
        [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
    put_name(line, "time", 4);
    put_time(line, clock_now(clock_system()));
    put_name(line, "level", 5);
    put_text(line, levels[level]);
    put_name(line, "event", 5);
    put_text(line, event);
}

/* Ends a line. Hidden characters stand in quotes only, where \u means the same to who reads it. */
static void finish(struct text *out, struct text *line, int64_t lost) {
    if (lost) {
        put_name(line, "dropped", 7);
        json_add_integer(line, lost);
    }
    if (line_format == LOG_JSON)
        text_push(line, "}", 1);
    text_clear(out);
    text_add_visible(out, line->data ? line->data : "", "");
    out->failed = out->failed || line->failed;
    text_clear(line);
}

void log_event(enum log_level level, const char *event, const char *keys, ...) {
    if (line_format == LOG_OFF || level > line_level)
        return;
    struct text text = {0};
    int64_t lost = atomic_exchange(&dropped, 0);
    /* Long texts are cut, so that the line stays one write a pipe takes whole. */
    for (size_t max = 1024; max >= 64 && (!text.data || text.size >= PIPE_BUF); max /= 4) {
        va_list values;
        struct text line = {0};
        va_start(values, keys);
        put_head(&line, level, event);
        put_values(&line, keys, &values, max);
        va_end(values);
        finish(&text, &line, lost);
    }
    emit(&text, lost);
    text_clear(&text);
}
