/* completion.c - completion scripts for bash, zsh and fish. They hand the words of the line to the
 * program, which knows what may follow. */
#include "cli/shown/output.h"
#include "cli/verb/service/candidates.h"
#include "cli/verbs.h"
#include <string.h>

/* In bash a word ends at `=`, and the default of readline completes files. */
static const char bash_script[] =
    "# Completion of moonshift for bash, written by \"moonshift completion bash\".\n"
    "_moonshift() {\n"
    "  local word rest\n"
    "  COMPREPLY=()\n"
    "  while IFS=$'\\t' read -r word rest; do COMPREPLY+=(\"$word\"); done < <(\n"
    "    \"${COMP_WORDS[0]/#\\~\\//$HOME/}\" completion words -- "
    "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -o default -F _moonshift moonshift\n";

static const char zsh_script[] =
    "#compdef moonshift\n"
    "# Completion of moonshift for zsh, written by \"moonshift completion zsh\".\n"
    "_moonshift() {\n"
    "  local line\n"
    "  local -a list\n"
    "  for line in ${(f)\"$(${~words[1]} completion words -- \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)\"}; do\n"
    "    list+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "  done\n"
    "  (( $#list )) && _describe moonshift list || _files\n"
    "}\n"
    "if [[ $funcstack[1] == _moonshift ]]; then _moonshift \"$@\"; else compdef "
    "_moonshift moonshift; fi\n";

static const char fish_script[] =
    "# Completion of moonshift for fish, written by \"moonshift completion fish\".\n"
    "function __moonshift_words --description 'what may stand at the cursor'\n"
    "  set -l line (commandline -opc)\n"
    "  set -l found ($line[1] completion words -- $line[2..-1] (commandline -ct) 2>/dev/null)\n"
    "  if test (count $found) -gt 0\n"
    "    printf '%s\\n' $found\n"
    "  else\n"
    "    __fish_complete_path (commandline -ct)\n"
    "  end\n"
    "end\n"
    "complete -c moonshift -f -a '(__moonshift_words)'\n";

static const struct shell {
    const char *name, *script;
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

static bool completion_run(struct cli *cli, const struct flags *flags, struct error *error) {
    (void)cli;
    const char *asked = flags->words[0];
    if (strcmp(asked, "words") == 0) {
        candidates_print(flags->words + 1, flags->word_count - 1);
        return true;
    }
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, asked) == 0) {
            output_add("%s", shells[i].script);
            return true;
        }
    return error_set(error, ERROR_USAGE, "completion \"%s\": expected bash, zsh or fish", asked);
}

const struct cli_command completion_commands[] = {
    {"completion", "bash|zsh|fish", "print a completion script for a shell",
     "make install puts the three of them where the shells look. They ask the program: states,\n"
     "columns and zones, and from the store handlers, ids and names.",
     NULL, 1, -1, false, false, completion_run},
    {0},
};
