#include "base/log.h"
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

static json_t *clean_text(const char *text, size_t max) {
    char *clean = text ? utf8_clean(text, strlen(text), max) : NULL;
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

/* The values as `keys` lists them; a text that is NULL is left out. */
static void put_values(json_t *line, const char *keys, va_list *values, size_t max) {
    char name[64];
    while (*keys) {
        size_t size = strcspn(keys, ":");
        memcpy(name, keys, size < sizeof name ? size : sizeof name - 1);
        name[size < sizeof name ? size : sizeof name - 1] = 0;
        const char *text;
        switch (keys[size + 1]) {
        case 's':
            if ((text = va_arg(*values, const char *)))
                json_put(line, name, clean_text(text, max));
            break;
        case 'd':
            json_put(line, name, json_integer(va_arg(*values, int)));
            break;
        case 'l':
            json_put(line, name, json_integer(va_arg(*values, int64_t)));
            break;
        case 't':
            json_put_time(line, name, va_arg(*values, time_ms));
            break;
        default:
            abort(); /* the source has a letter that log.h does not list */
        }
        keys += size + 2;
        keys += *keys == ' ';
    }
}

/* Words may stand bare; everything else is quoted as in JSON. */
static bool is_bare(const char *text) {
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == '"' || *at == '=' || *at == '\\')
            return false;
    return *text != 0 && !utf8_has_hidden(text);
}

static void append(struct text *out, const char *words) {
    text_append(out, words, strlen(words));
}

static void append_json(struct text *out, const json_t *value) {
    size_t size = 0;
    char *text = json_is_null(value) ? NULL : json_write(value, &size);
    text_append(out, text, size);
    free(text);
}

static void write_logfmt(struct text *out, json_t *line) {
    const char *key, *blank = "";
    json_t *value;
    json_object_foreach(line, key, value) {
        append(out, blank);
        append(out, key);
        append(out, "=");
        blank = " ";
        if (json_is_string(value) && is_bare(json_string_value(value)))
            append(out, json_string_value(value));
        else
            append_json(out, value);
    }
}

/* Hidden characters stand in quotes only, where \u means the same to who reads the line. */
static void write_line(struct text *out, json_t *line) {
    struct text plain = {0};
    char *text = line_format == LOG_LOGFMT ? NULL : json_write(line, NULL);
    if (line_format == LOG_LOGFMT)
        write_logfmt(&plain, line);
    else if (text)
        append(&plain, text);
    text_add_visible(out, plain.data ? plain.data : "", "");
    out->failed = out->failed || plain.failed;
    text_clear(&plain);
    free(text);
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

static void put_head(json_t *line, enum log_level level, const char *event) {
    static const char *const levels[] = {
        [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
    json_put_time(line, "time", clock_now(clock_system()));
    json_put_text(line, "level", levels[level]);
    json_put_text(line, "event", event);
}

void log_event(enum log_level level, const char *event, const char *keys, ...) {
    if (line_format == LOG_OFF || level > line_level)
        return;
    struct text text = {0};
    int64_t lost = atomic_exchange(&dropped, 0);
    /* Long texts are cut, so that the line stays one write a pipe takes whole. */
    for (size_t max = 1024; max >= 64 && (!text.data || text.size >= PIPE_BUF); max /= 4) {
        va_list values;
        json_t *line = json_object();
        text_clear(&text);
        va_start(values, keys);
        put_head(line, level, event);
        put_values(line, keys, &values, max);
        va_end(values);
        if (lost)
            json_put(line, "dropped", json_integer(lost));
        write_line(&text, line);
        json_decref(line);
    }
    emit(&text, lost);
    text_clear(&text);
}
