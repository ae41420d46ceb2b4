#include "cli/select.h"
#include "cli/list.h"

static bool ids_add(json_t *ids, const struct flags *flags, int from, struct error *error) {
    bool fine = true;
    for (int i = from; fine && i < flags->word_count; i++) {
        int64_t id;
        fine = flags_number("id", flags->words[i], 1, INT64_MAX, &id, error) &&
               (json_array_append_new(ids, json_integer(id)) == 0 || error_no_memory(error));
    }
    return fine;
}

static bool ids_read(json_t *command, const struct flags *flags, int from, struct error *error) {
    json_t *ids = json_array();
    return ids && json_object_set_new(command, "ids", ids) == 0 ? ids_add(ids, flags, from, error)
                                                                : error_no_memory(error);
}

bool select_read(json_t *command, const struct flags *flags, int from, struct error *error) {
    json_t *filters = list_filters(flags, error);
    bool words = flags->word_count > from, filtered = json_object_size(filters) > 0;
    bool fine = filters != NULL;
    if (fine && words == filtered)
        fine = error_set(error, ERROR_USAGE,
                         words ? "%s takes ids or filters, not both"
                               : "%s needs ids or a filter (such as --handler NAME)",
                         flags->command->name);
    if (fine && filtered)
        fine = json_object_set(command, "query", filters) == 0 || error_no_memory(error);
    json_decref(filters);
    return fine && (filtered || ids_read(command, flags, from, error));
}
