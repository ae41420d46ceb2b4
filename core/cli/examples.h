/* examples.h - what `moonshift help VERB` shows by example. */
#ifndef MOONSHIFT_CLI_EXAMPLES_H
#define MOONSHIFT_CLI_EXAMPLES_H

/* Command lines of a verb, each with its newline; NULL: the verb has none. */
const char *examples_of(const char *verb);

#endif
