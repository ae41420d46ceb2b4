#include "job/executor_row.h"
#include "base/json.h"
#include <string.h>

bool executor_row_runs(const json_t *row) {
    return !json_is_array(json_object_get(row, "topics"));
}

bool executor_row_is(const json_t *row, const char *state) {
    const char *is = json_text(row, "state");
    return executor_row_runs(row) && is && strcmp(is, state) == 0;
}
