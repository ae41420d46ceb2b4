/* candidates.h - what may stand at the cursor of a command line. */
#pragma once

/* Prints a line for each word that may take the place of the last of these words, which may be
 * empty: the word, a tab and what it means. Nothing, where a file or anything is expected. Values
 * come from the store where there is one; after 100 ms the process ends with what it has. Says
 * nothing of what goes wrong. */
void candidates_print(const char *const *words, int count);
