/* help.h - what the pages of help show by example. */
#pragma once

/* Command lines of a verb, each with its newline; NULL: none. */
const char *examples_of(const char *verb);
