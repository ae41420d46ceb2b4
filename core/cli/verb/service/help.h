/* help.h - what the pages of help show by example. */
#ifndef MOONSHIFT_CLI_VERB_SERVICE_HELP_H
#define MOONSHIFT_CLI_VERB_SERVICE_HELP_H

/* Command lines of a verb, each with its newline; NULL: none. */
const char *examples_of(const char *verb);

#endif
