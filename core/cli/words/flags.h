/* flags.h - the words behind a verb, taken apart: `--flag value`, `--flag=value`, switches, and
 * arguments. `--` ends the flags; `-` and negative numbers are arguments. */
#pragma once

#include "base/error.h"
#include "job/ask.h"
#include <stddef.h>
#include <stdint.h>

struct cli;
struct flags;
struct listing;

/* Whose a flag is: 0: the verb reads it; or some of these. */
enum flag_form {
    FLAG_FILTERS = 1, /* the row stands for all filters of `kind` */
    FLAG_FILTER = 2,  /* the list's: it is a filter, see cli/list.h */
    FLAG_MEMBER = 4,  /* the command's: a member of its name, see cli/command.h */
    FLAG_ONE = 8,     /* goes with one command on the line, not with --from */
    FLAG_MANY = 16    /* goes with --from alone */
};

struct flag {
    const char *name;  /* "--priority" */
    const char *value; /* what the help calls its value: "N"; NULL: a switch; "[URL]": optional, and
                          then only after `=`, or as the next word if that names a store */
    const char *help;
    int form; /* of enum flag_form */
    enum ask_kind kind;
};

#define FILTERS_OF(kind)                                                                           \
    { "", NULL, NULL, FLAG_FILTERS, kind }

/* A verb: what its words may be, and what runs it. */
struct cli_command {
    const char *name;         /* "job list" */
    const char *usage;        /* what follows the name: "[--state STATE] …" */
    const char *summary;      /* one line for --help */
    const char *help;         /* what `help VERB` says beside the flags; may be "" */
    const struct flag *flags; /* its own flags, ended by a NULL name; NULL: none */
    int words_min, words_max; /* arguments that are not flags; -1: any number */
    bool takes_settings;      /* any setting may be given as a flag */
    bool takes_folder;        /* its first argument is the script folder */
    bool (*run)(struct cli *cli, const struct flags *flags, struct error *error);
    const struct listing *listing; /* of a list */
};

struct flag_given {
    struct flag flag;
    const char *name;  /* without what follows `=`; owned by the flags, as flag.name */
    const char *value; /* NULL: a switch, or left out */
    int words;         /* that stand before it */
};

struct flags {
    const struct cli_command *command;
    struct flag_given *given; /* in order */
    size_t count;
    const char **words; /* the arguments, in order */
    int word_count;
    bool helps; /* --help was among them */
};

/* Reads the words behind the verb; flags_clear in any case afterwards. */
bool flags_parse(struct flags *flags, const struct cli_command *command, int argc, char **argv,
                 struct error *error);
void flags_clear(struct flags *flags);

/* True if the flag was given, with or without a value. */
bool flags_has(const struct flags *flags, const char *name);

/* The last value given, or NULL. */
const char *flags_text(const struct flags *flags, const char *name);

/* Refuses flags that do not go with --from, or go with it alone. */
bool flags_check_from(const struct flags *flags, struct error *error);

/* Leaves *value as it is if the flag is absent. False: not an integer of min … max. */
bool flags_integer(const struct flags *flags, const char *name, int64_t min, int64_t max,
                   int64_t *value, struct error *error);

/* The same for a text from anywhere; `what` names it in the error. */
bool flags_number(const char *what, const char *text, int64_t min, int64_t max, int64_t *value,
                  struct error *error);

/* "true" or "false" (NULL, a flag without its value, is true). */
bool flags_boolean(const char *what, const char *text, bool *value, struct error *error);

/* A walk through all flags of a verb: its own, then those that every verb takes. */
struct flag_walk {
    const struct cli_command *command;
    const struct flag *at;
    const struct filter *filter; /* of the kind that is walked through */
    bool common;                 /* it has come to those of every verb */
    struct flag made;            /* of a filter */
    char name[64];
};
struct flag_walk flag_walk(const struct cli_command *command);
/* NULL: that was all. A flag of a filter holds until the next call. */
const struct flag *flag_next(struct flag_walk *walk);

/* "--min-priority" as the store knows it: min_priority. */
void flags_key(const char *flag, char *key, size_t room);

/* The setting that a flag names, with underscores ("lock_time" for "--lock-time"), or NULL. */
const char *flags_setting(const char *flag);
