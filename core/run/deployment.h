/* deployment.h - one loaded script folder as the loop knows it: its bytes and what it declares. */
#ifndef MOONSHIFT_RUN_DEPLOYMENT_H
#define MOONSHIFT_RUN_DEPLOYMENT_H

#include "script/script.h"
#include "store/store.h"

enum { DEPLOYMENT_NO_REFERENCE = -2 }; /* no modules, no handlers of a borrowed Lua state */

struct deployment {
    struct folder *folder;
    struct definitions definitions;
    json_t *schedules; /* see struct script_report */
    int64_t id;        /* in the store; 0 until written */
    bool takes_back;   /* it counts although a live executor has a newer one */
    int generation;    /* grows with every reload; see generations.h */
};

/* Loads the whole folder once, to see that it can be loaded (retains it). Every problem is logged
 * if `log`; NULL: error is the first, `handlers/a.lua:3: …`. Runs the folder's top-level code. */
struct deployment *deployment_load(struct folder *folder, const struct settings *settings,
                                   struct clock *clock, bool log, struct error *error);
void deployment_free(struct deployment *deployment);

/* Writes the user's files and definitions and registers them for this executor's name. */
bool deployment_write(struct deployment *deployment, struct store *store, const char *executor_name,
                      time_ms now, struct error *error);

#endif
