#include "cli/shown/problem.h"
#include "cli/shown/output.h"
#include <stdio.h>
#include <stdlib.h>

/* "12:" for a number above 0, else nothing. */
static const char *place(const json_t *problem, const char *key, char *out, size_t size) {
    json_int_t number = json_integer_value(json_object_get(problem, key));
    out[0] = '\0';
    if (number > 0)
        snprintf(out, size, "%lld:", (long long)number);
    return out;
}

void problem_print(const json_t *problem, const char *label) {
    char line[24], column[24];
    char *file = output_value(json_object_get(problem, "file"), false);
    char *message = output_value(json_object_get(problem, "message"), true);
    if (file && message)
        fprintf(stderr, "%s%s%s%s %s%s\n", file, file[0] ? ":" : "",
                place(problem, "line", line, sizeof line),
                place(problem, "column", column, sizeof column), label, message);
    free(file);
    free(message);
}
