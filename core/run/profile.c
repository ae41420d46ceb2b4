#include "run/profile.h"
#include "base/json.h"

json_t *profile_new(const struct settings *settings, const struct acquire *serves, int workers) {
    json_t *profile = json_pack("{s:s s:i s:i}", "acquisition", settings->acquisition, "queue",
                                settings->queue, "workers", workers);
    if (profile && json_array_size(settings->history_cleanup_window))
        json_put(profile, "cleanup", json_true());
    if (profile &&
        (!serves->handlers || json_put(profile, "handlers", definitions_names(serves->handlers))))
        return profile;
    json_decref(profile);
    return NULL;
}
