/* questions.c - loaded before a program: writes each statement that it prepares without keeping it
 * into the file QUESTIONS, one a line. Those are the questions that are made of filters. */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

int sqlite3_prepare_v3(sqlite3 *handle, const char *sql, int size, unsigned flags,
                       sqlite3_stmt **statement, const char **rest) {
    static int (*real)(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
    const char *path = getenv("QUESTIONS");
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
    FILE *file = path && flags == 0 ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", sql);
        fclose(file);
    }
    return real(handle, sql, size, flags, statement, rest);
}
