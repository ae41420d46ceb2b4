#include "cli/shown/output.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/words/relative.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int output_errno; /* of the first write that failed */

static void signal_nothing(int number) {
    (void)number;
}

void output_setup(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
    struct sigaction action = {.sa_handler = signal_nothing, .sa_flags = SA_RESTART};
    sigaction(SIGPIPE, &action, NULL); /* not SIG_IGN: programs started by handlers inherit that */
}

static void output_check(bool fine) {
    if (!fine && output_errno == 0)
        output_errno = errno ? errno : EIO;
}

void output_add(const char *format, ...) {
    va_list list;
    va_start(list, format);
    output_check(vfprintf(stdout, format, list) >= 0);
    va_end(list);
}

bool output_json(json_t *value, struct error *error) {
    struct text visible = {0};
    char *text = value ? json_write(value, NULL) : NULL;
    json_decref(value);
    if (text)
        text_add_visible(&visible, text, "");
    free(text);
    if (visible.failed || !visible.data)
        return text_clear(&visible), error_no_memory(error);
    output_check(fwrite(visible.data, 1, visible.size, stdout) == visible.size);
    output_add("\n");
    text_clear(&visible);
    return true;
}

bool output_finish(struct error *error) {
    output_check(fflush(stdout) == 0);
    CRASH_POINT("answer_written");
    if (output_errno == 0)
        return true;
    return error_set(error, ERROR_IO, "standard output: %s", strerror(output_errno));
}

static int terminal_width(int fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    return width > 0 ? width : 80;
}

int output_width(void) {
    return isatty(STDOUT_FILENO) ? terminal_width(STDOUT_FILENO) : 0;
}

bool output_colours(void) {
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(none && *none) && term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

void output_note(const char *format, ...) {
    va_list list;
    output_check(fflush(stdout) == 0);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

int output_error_width(void) {
    int width = terminal_width(STDERR_FILENO);
    return width < 20 ? 20 : width;
}

/* Without `lines`, ends of lines and tabs become blanks. */
static char *visible(const char *text, bool lines) {
    struct text out = {0};
    text_add_visible(&out, text, "\n\t\r");
    if (out.failed)
        text_clear(&out);
    for (char *at = out.data; at && *at; at++)
        if (*at == '\r' || (!lines && (*at == '\n' || *at == '\t')))
            *at = ' ';
    return out.data;
}

static char *value_write(const json_t *value) {
    if (json_is_string(value))
        return strndup(json_string_value(value), json_string_length(value));
    if (json_is_null(value) || !value)
        return strdup("");
    if (json_is_boolean(value))
        return strdup(json_is_true(value) ? "yes" : "no");
    return json_write(value, NULL);
}

char *output_clean(const char *text, bool lines) {
    return visible(text, lines);
}

char *output_value(const json_t *value, bool lines) {
    char *text = value_write(value), *shown = text ? visible(text, lines) : NULL;
    free(text);
    return shown;
}

static void field_text(const char *key, int width, const char *text) {
    if (!strchr(text, '\n')) {
        output_add("%-*s  %s\n", width, key, text);
        return;
    }
    output_add("%s\n", key);
    while (*text) {
        int size = (int)strcspn(text, "\n");
        output_add("    %.*s\n", size, text);
        text += size + (text[size] == '\n');
    }
}

/* At a terminal an instant also says how far away it is. */
static void field_write(const char *key, int width, const json_t *value, time_ms now) {
    char relative[RELATIVE_SIZE];
    char *text = output_value(value, true);
    struct text both = {0};
    if (text && output_width() > 0 && json_is_string(value) && relative_time(text, now, relative)) {
        text_add(&both, "%s (%s)", text, relative);
        field_text(key, width, both.data ? both.data : text);
    } else if (text)
        field_text(key, width, text);
    text_clear(&both);
    free(text);
}

void output_fields(const json_t *object) {
    const char *key;
    json_t *value;
    int width = 0;
    time_ms now = clock_now(clock_system());
    json_object_foreach(json_unchanged(object), key, value) {
        if (!json_is_null(value) && (int)strlen(key) > width)
            width = (int)strlen(key);
    }
    json_object_foreach(json_unchanged(object), key, value) {
        if (!json_is_null(value))
            field_write(key, width, value, now);
    }
}

bool output_object(bool json, json_t *object, struct error *error) {
    if (json && object)
        return output_json(object, error);
    if (object)
        output_fields(object);
    json_decref(object);
    return object != NULL;
}
