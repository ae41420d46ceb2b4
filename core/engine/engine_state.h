/* engine_state.h - the members of an engine. Private to core/engine/. */
#pragma once

#include "engine/driver.h"
#include "engine/job_services.h"
#include "job/job_spec.h"

struct spec_room {
    struct job_spec *specs; /* all clear */
    size_t count;
};

struct engine {
    struct engine_options options;
    struct store *store;
    struct generations *generations; /* NULL: no folder */
    struct generation
        *earlier; /* loaded from the store when a handler asked for them; not served */
    const struct settings *joined_as; /* NULL: nothing runs its jobs */
    int64_t next_id, ids_left;        /* handed out ahead for jobs that handlers create */
    int ids_ahead;                    /* that the list at work reserves at once; 0: none is */
    int ids_drawn;                    /* reserved the last time by the command at work */
    struct job_services *services;    /* for its running jobs */
    struct process_lane *lanes;       /* that the command at work holds, */
    struct process_lane *lane_near;   /* and one before the last that was looked for; NULL: none */
    /* takes the lane of one more instance; NO: it is busy, and spared. Set while there are lanes.
     * *frame: what was read with it, a new reference, or NULL */
    enum answer (*lane_meet)(struct engine *engine, int64_t instance, bool spares, json_t **frame,
                             struct error *error);
    bool lanes_end;             /* it ends its instance */
    struct lane_keeper *keeper; /* NULL: no command has held a lane yet; see process_lane.h */
    void (*keeper_end)(struct lane_keeper *keeper);
    struct process_pace *pace; /* of its walks; NULL: none was noted yet */
    struct list *list;         /* that is being walked; NULL: none is */
    /* puts what its earlier commands have left into an answer; false: no memory */
    bool (*list_show)(const struct list *list, const char *kind, const json_t *question,
                      json_t *answer);
    const struct store_reach
        *reached;      /* what the command at work is about; NULL: to be asked for */
    json_t *answers;   /* that the list at work has read; NULL: none is */
    json_t *questions; /* that it will ask at once, each kind by its number; NULL: none */
    json_t *versions;  /* that its walks have asked for, by question; NULL: none is walked */
    struct error lane_refused;      /* why its walk did not get one more */
    const char *trace;              /* of the request that commands come from; NULL: none */
    struct engine_request *request; /* under whose key commands are done; NULL: without one */
    bool running;                   /* a handler runs: no second turn, no close */
    struct spec_room room;          /* of the jobs that are created next; none while some are */
};

/* Loads `folder` (retained) for this thread. `before` as for generation_open. NULL: error. */
struct generation *engine_open_generation(struct engine *engine, struct folder *folder,
                                          enum script_reading reading, const struct folder *before,
                                          struct error *error);

/* The generation that serves `handler`, and its definition (NULL for one that was created
 * unchecked): the folder first, else the store. *generation NULL: the handler is unknown; no error.
 * False: error. */
bool engine_find(struct engine *engine, const char *handler, struct generation **generation,
                 const struct definition **definition, struct error *error);
/* Fills ERROR_NOT_FOUND with the known names. Returns false. */
bool engine_unknown(struct engine *engine, const char *handler, struct error *error);

/* Ends a transaction: commits if `ok`, else rolls back and returns false. */
bool engine_end(struct engine *engine, bool ok, struct error *error);
/* Does what engine_enqueue does, but for the transaction: `write` writes the list. */
typedef bool engine_writer(struct engine *engine, struct job_spec *specs, void *arg,
                           struct error *error);
bool engine_create(struct engine *engine, const struct engine_spec *specs, size_t count,
                   struct created *created, size_t *refused, engine_writer *write, void *arg,
                   struct error *error);

time_ms engine_now(const struct engine *engine);

/* Lists by id stay near the order of creation; nothing rests on it. */
static inline void engine_ids_drop(struct engine *engine) {
    engine->ids_left = engine->ids_drawn = 0;
}

enum { ENGINE_IDS = 64 }; /* reserved at once for jobs that handlers create, to begin with */

/* A command begins. It may use a few that the one before has left, never many. */
static inline void engine_ids_begin(struct engine *engine) {
    if (engine->ids_left > ENGINE_IDS)
        engine->ids_left = 0;
    engine->ids_drawn = 0;
}
