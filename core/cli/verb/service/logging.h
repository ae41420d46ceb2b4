/* logging.h - the log of a verb that stays: its flags and variables. */
#pragma once

#include "cli/cli.h"

#define LOGGING_FLAGS                                                                              \
    {"--log-format", "FORMAT", "logfmt or json; also on a terminal"}, {                            \
        "--log-level", "LEVEL", "error, warn, info or debug"                                       \
    }

/* Configures it. On a terminal only warnings and errors are written, unless `all`. */
bool logging_setup(struct cli *cli, const struct flags *flags, bool all, struct error *error);
