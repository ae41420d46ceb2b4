/* log.h - one line per event on standard error: logfmt, or JSON. Only run/, http/, cli/
 * and main.c log. */
#pragma once

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_LOGFMT, LOG_JSON, LOG_OFF };

/* Process-wide; call before the first thread. Default: LOG_OFF, so that a library stays silent. */
void log_configure(enum log_format format, enum log_level level);

/* Writes `time=… level=… event=<event> <key>=<value>…`. `keys` is a space-separated list of names,
 * each followed by ':' and s (const char *, NULL is left out), d (int), l (int64_t) or t (time_ms):
 *     log_event(LOG_INFO, "job failed", "job:l handler:s retries:d", id, name, retries);
 * Any thread. Never blocks on a pipe nobody reads: a line that cannot be written is counted. */
void log_event(enum log_level level, const char *event, const char *keys, ...);

/* A short-lived sink for specs and for `print` capture: NULL restores standard error. */
void log_sink(void (*write)(void *arg, const char *line), void *arg);
