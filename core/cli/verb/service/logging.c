#include "cli/verb/service/logging.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>

static bool log_level_read(const char *text, enum log_level *level, struct error *error) {
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; text && i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    return !text || error_set(error, ERROR_USAGE,
                              "log level \"%s\": expected error, warn, info or debug", text);
}

static bool log_format_read(const char *text, enum log_format *format, struct error *error) {
    *format = text && strcmp(text, "json") == 0 ? LOG_JSON : LOG_LOGFMT;
    return !text || *format == LOG_JSON || strcmp(text, "logfmt") == 0 ||
           error_set(error, ERROR_USAGE, "log format \"%s\": expected logfmt or json", text);
}

static const char *flag_or_variable(const struct flags *flags, const char *flag,
                                    const char *variable) {
    const char *text = flags_text(flags, flag);
    if (!text)
        text = getenv(variable);
    return text && text[0] ? text : NULL;
}

bool logging_setup(struct cli *cli, const struct flags *flags, bool all, struct error *error) {
    const char *text = flag_or_variable(flags, "--log-format", "MOONSHIFT_LOG_FORMAT");
    if (text)
        cli->interactive = false;
    bool quiet = cli->interactive && !all;
    enum log_level level = quiet ? LOG_WARN : LOG_INFO;
    enum log_format format;
    if (!log_format_read(text, &format, error) ||
        !log_level_read(flag_or_variable(flags, "--log-level", "MOONSHIFT_LOG_LEVEL"), &level,
                        error))
        return false;
    log_configure(format, level);
    return true;
}
