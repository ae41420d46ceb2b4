/* completion.c - completion scripts for bash, zsh and fish, made from the table of verbs. */
#include "cli/shown/output.h"
#include "cli/verbs.h"
#include "job/settings.h"
#include <string.h>

/* What one shell needs: the frame of its script, and how a word with its meaning is written. */
struct shell {
    const char *name;
    void (*write)(void);
};

/* ---- the table of verbs ---- */

typedef void command_visit(const struct cli_command *command, void *arg);

static void each_command(command_visit *visit, void *arg) {
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            visit(command, arg);
}

typedef void flag_visit(const struct flag *flag, void *arg);

static void each_flag(const struct cli_command *command, flag_visit *visit, void *arg) {
    struct flag_walk walk = flag_walk(command);
    for (const struct flag *flag; (flag = flag_next(&walk));)
        visit(flag, arg);
}

/* "job" of "job list"; true if no command before it has the same first word. */
static bool first_word(const struct cli_command *wanted, int *size) {
    *size = (int)strcspn(wanted->name, " ");
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++) {
            if (command == wanted)
                return true;
            if (strncmp(command->name, wanted->name, (size_t)*size) == 0 &&
                strchr(" ", command->name[*size]))
                return false;
        }
    return true;
}

static bool needs_value(const struct flag *flag) {
    return flag->value && flag->value[0] != '[';
}

/* In single quotes, as all three shells read them. */
static void quote(const char *text) {
    output_add("'");
    for (; *text; text++)
        if (*text == '\'')
            output_add("'\\''");
        else
            output_add("%c", *text);
    output_add("'");
}

/* ---- words that several shells list ---- */

static void word_group(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (first_word(command, &size) && command->name[size])
        output_add(" %.*s", size, command->name);
}

static void word_first(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (first_word(command, &size))
        output_add(" %.*s", size, command->name);
}

/* arg: the first word whose second words are wanted. */
static void word_second(const struct cli_command *command, void *arg) {
    const struct cli_command *group = arg;
    size_t size = strcspn(group->name, " ");
    if (strncmp(command->name, group->name, size) == 0 && command->name[size] == ' ')
        output_add(" %s", command->name + size + 1);
}

static void word_flag(const struct flag *flag, void *arg) {
    (void)arg;
    output_add(" %s", flag->name);
}

static void words_settings(const struct cli_command *command) {
    for (const char *const *name = settings_names(); command->takes_settings && *name; name++) {
        output_add(" --");
        for (const char *at = *name; *at; at++)
            output_add("%c", *at == '_' ? '-' : *at);
    }
}

/* ---- bash ---- */

static void bash_group(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (!first_word(command, &size) || !command->name[size])
        return;
    output_add("    %.*s) words='", size, command->name);
    each_command(word_second, (void *)(uintptr_t)command);
    output_add(" --help' ;;\n");
}

static void bash_verb(const struct cli_command *command, void *arg) {
    (void)arg;
    output_add("    '%s') words='", command->name);
    each_flag(command, word_flag, NULL);
    words_settings(command);
    output_add("' ;;\n");
}

static void bash_value(const struct flag *flag, void *arg) {
    (void)arg;
    if (needs_value(flag) && strcmp(flag->name, "-C") != 0)
        output_add("|%s", flag->name);
}

static void bash_values(const struct cli_command *command, void *arg) {
    struct flag_walk walk = flag_walk(command);
    for (const struct flag *flag; (flag = flag_next(&walk)) && !walk.common;)
        bash_value(flag, arg);
}

static void bash_write(void) {
    output_add("# Completion of moonshift for bash, written by \"moonshift completion bash\".\n"
               "_moonshift() {\n"
               "  local word=${COMP_WORDS[COMP_CWORD]} verb= words= i\n"
               "  case ${COMP_WORDS[COMP_CWORD-1]} in\n"
               "    -C) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n"
               "    --store");
    each_command(bash_values, NULL);
    output_add(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
               "  esac\n"
               "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "    case ${COMP_WORDS[i]} in\n"
               "      -C|--store) ((i++)) ;;\n"
               "      -*) ;;\n"
               "      *) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}\n"
               "         elif [[ ' ");
    each_command(word_group, NULL);
    output_add(" ' == *\" $verb \"* ]]; then verb+=\" ${COMP_WORDS[i]}\"; fi ;;\n"
               "    esac\n"
               "  done\n"
               "  case $verb in\n"
               "    '') words='");
    each_command(word_first, NULL);
    output_add(" --help --version' ;;\n"
               "    help) words='");
    each_command(word_first, NULL);
    output_add("' ;;\n"
               "    completion) words='bash zsh fish --help' ;;\n");
    each_command(bash_group, NULL);
    each_command(bash_verb, NULL);
    output_add("  esac\n"
               "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "}\n"
               "complete -o default -F _moonshift moonshift\n");
}

/* ---- zsh ---- */

/* 'name:what it does', or for a group its verbs. */
static void zsh_first(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (!first_word(command, &size))
        return;
    output_add("      %.*s:", size, command->name);
    quote(command->name[size] ? "a group of verbs" : command->summary);
    output_add("\n");
}

static void zsh_second(const struct cli_command *command, void *arg) {
    const struct cli_command *group = arg;
    size_t size = strcspn(group->name, " ");
    if (strncmp(command->name, group->name, size) != 0 || command->name[size] != ' ')
        return;
    output_add(" %s:", command->name + size + 1);
    quote(command->summary);
}

static void zsh_group(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (!first_word(command, &size) || !command->name[size])
        return;
    output_add("    %.*s) list=(", size, command->name);
    each_command(zsh_second, (void *)(uintptr_t)command);
    output_add(") ;;\n");
}

static void zsh_flag(const struct flag *flag, void *arg) {
    (void)arg;
    output_add(" %s:", flag->name);
    quote(flag->help);
}

static void zsh_verb(const struct cli_command *command, void *arg) {
    (void)arg;
    output_add("    '%s') list=(", command->name);
    each_flag(command, zsh_flag, NULL);
    words_settings(command);
    output_add(") ;;\n");
}

static void zsh_write(void) {
    output_add("#compdef moonshift\n"
               "# Completion of moonshift for zsh, written by \"moonshift completion zsh\".\n"
               "_moonshift() {\n"
               "  local verb= i\n"
               "  local -a list\n"
               "  for ((i = 2; i < CURRENT; i++)); do\n"
               "    case $words[i] in\n"
               "      -C|--store) ((i++)) ;;\n"
               "      -*) ;;\n"
               "      *) if [[ -z $verb ]]; then verb=$words[i]\n"
               "         elif [[ ' ");
    each_command(word_group, NULL);
    output_add(" ' == *\" $verb \"* ]]; then verb+=\" $words[i]\"; fi ;;\n"
               "    esac\n"
               "  done\n"
               "  [[ $words[CURRENT-1] == -C ]] && { _files -/; return }\n"
               "  case $verb in\n"
               "    ''|help) list=(\n");
    each_command(zsh_first, NULL);
    output_add("    ) ;;\n"
               "    completion) list=(bash zsh fish) ;;\n");
    each_command(zsh_group, NULL);
    each_command(zsh_verb, NULL);
    output_add("  esac\n"
               "  _describe moonshift list || _files\n"
               "}\n"
               "if [[ $funcstack[1] == _moonshift ]]; then _moonshift \"$@\"; else compdef "
               "_moonshift moonshift; fi\n");
}

/* ---- fish ---- */

static void fish_first(const struct cli_command *command, void *arg) {
    int size;
    (void)arg;
    if (!first_word(command, &size))
        return;
    output_add("complete -c moonshift -n '__moonshift_at \"\" help' -f -a %.*s -d ", size,
               command->name);
    quote(command->name[size] ? "a group of verbs" : command->summary);
    output_add("\n");
}

static void fish_flag(const struct flag *flag, void *arg) {
    const struct cli_command *command = arg;
    bool shorter = flag->name[1] != '-';
    output_add("complete -c moonshift -n '__moonshift_at \"%s\"' %s %s%s -d ", command->name,
               shorter ? "-s" : "-l", flag->name + (shorter ? 1 : 2),
               needs_value(flag) ? " -r" : "");
    quote(flag->help);
    output_add("\n");
}

static void fish_verb(const struct cli_command *command, void *arg) {
    int size = (int)strcspn(command->name, " ");
    (void)arg;
    if (command->name[size]) {
        output_add("complete -c moonshift -n '__moonshift_at %.*s' -f -a %s -d ", size,
                   command->name, command->name + size + 1);
        quote(command->summary);
        output_add("\n");
    }
    each_flag(command, fish_flag, (void *)(uintptr_t)command);
}

static void fish_write(void) {
    output_add("# Completion of moonshift for fish, written by \"moonshift completion fish\".\n"
               "function __moonshift_at --description 'true if the verb so far is one of these'\n"
               "  set -l verb\n"
               "  set -l skip 0\n"
               "  for word in (commandline -opc)[2..-1]\n"
               "    if test $skip = 1\n"
               "      set skip 0\n"
               "    else if contains -- $word -C --store\n"
               "      set skip 1\n"
               "    else if string match -q -- '-*' $word\n"
               "      continue\n"
               "    else if test (count $verb) = 0; or begin; test (count $verb) = 1; and contains "
               "-- $verb[1]");
    each_command(word_group, NULL);
    output_add("; end\n"
               "      set verb $verb $word\n"
               "    end\n"
               "  end\n"
               "  contains -- \"$verb\" $argv\n"
               "end\n"
               "complete -c moonshift -n '__moonshift_at completion' -f -a 'bash zsh fish'\n");
    each_command(fish_first, NULL);
    each_command(fish_verb, NULL);
}

static const struct shell shells[] = {
    {"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};

static bool completion_run(struct cli *cli, const struct flags *flags, struct error *error) {
    (void)cli;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, flags->words[0]) == 0) {
            shells[i].write();
            return true;
        }
    return error_set(error, ERROR_USAGE, "completion \"%s\": expected bash, zsh or fish",
                     flags->words[0]);
}

const struct cli_command completion_commands[] = {
    {"completion", "bash|zsh|fish", "print a completion script for a shell",
     "make install puts the three of them where the shells look.", NULL, 1, 1, false, false,
     completion_run},
    {0},
};
