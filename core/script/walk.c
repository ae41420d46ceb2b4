/* Runs the jobs of process instances: their handler is the walk
 * (lua/moonshift/process/runtime.lua), and what it returns is a unit. */
#include "script/walk.h"
#include "job/instance_batch.h"
#include "script/failure.h"
#include "script/handle.h"
#include "script/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the walk asks ---- */

static void set_id(lua_State *L, const char *key, int64_t id) {
    if (id == 0)
        return;
    lua_pushinteger(L, id);
    lua_setfield(L, -2, key);
}

static void set_text(lua_State *L, const char *key, const char *text) {
    lua_pushstring(L, text); /* NULL: nil */
    lua_setfield(L, -2, key);
}

/* frame(job) -> { id, version, rev, frame, parent, key, tenant, followed } of its instance,
 * and the token that waits for it; nil: it belongs to none. followed: the job's cycle goes on. For
 * a turn that stands outside of the frame of its instance, rev and frame are the turn's, and there
 * are turn, body, body_token, and around, around_rev of the instance. body_seen: how many turns of
 * the body have ended, and one, where runs before it in its item have read that. */
static int walk_frame(lua_State *L) {
    const struct job *job = handle_look(L)->job;
    const int64_t instance = job_walked(job);
    if (!instance)
        return 0;
    lua_createtable(L, 0, 14);
    set_id(L, "id", instance);
    set_id(L, "version", job->version);
    set_id(L, "rev", job->frame_rev);
    set_id(L, "parent", job->parent);
    set_text(L, "frame", job->frame);
    set_text(L, "key", job->business_key);
    set_text(L, "tenant", job->tenant);
    set_id(L, "turn", turn_of_token(job->execution));
    set_id(L, "body", job->body);
    set_id(L, "body_token", job->body_token);
    set_id(L, "body_seen", job->body_seen);
    set_text(L, "around", job->around);
    set_id(L, "around_rev", job->around_rev);
    lua_pushboolean(L, job->followed);
    lua_setfield(L, -2, "followed");
    if (job->execution == 0)
        return 1;
    lua_pushinteger(L, job->execution);
    return 2;
}

/* kept(job) -> what handlers did in the walk before, as JSON; nil: this is the first one */
static int walk_kept(lua_State *L) {
    lua_pushstring(L, handle_look(L)->job->kept); /* NULL: nil */
    return 1;
}

/* command(job) -> the command that each instance of a batch's job is given, and the batch's config
 * as JSON; nil: another job */
static int walk_command(lua_State *L) {
    const struct job *job = handle_look(L)->job;
    const struct instance_batch *type = job->batch ? instance_batch_of(job->handler) : NULL;
    lua_pushstring(L, type ? type->kind : NULL); /* NULL: nil */
    lua_pushstring(L, type ? job->config : NULL);
    return 2;
}

/* next_id(job) -> an id for an instance that begins */
static int walk_next_id(lua_State *L) {
    struct handle *handle = handle_check(L);
    const struct script_host *host = &handle->script->host;
    struct error error = {0};
    int64_t id = host->next_id ? host->next_id(host->arg, &error)
                               : error_set(&error, ERROR_FAILED, "not available here");
    if (id == 0) {
        run_lost(handle->run, &error);
        return luaL_error(L, "%s", error.text);
    }
    lua_pushinteger(L, id);
    return 1;
}

/* now() -> ms, as jobs that are created now have it */
static int walk_now(lua_State *L) {
    lua_pushinteger(L, clock_now(script_of(L)->clock));
    return 1;
}

/* again(job, id): the next job that is created has the id that it had in the walk before. */
static int walk_again(lua_State *L) {
    struct handle *handle = handle_check(L);
    handle->run->again = luaL_checkinteger(L, 2);
    return 0;
}

/* begin(): a walk makes many small tables that live as long as its unit. Collecting by generations
 * takes a sixth of its time away. A state that is borrowed stays as its owner has it. */
static int walk_begin(lua_State *L) {
    if (!script_of(L)->state.borrowed)
        lua_gc(L, LUA_GCGEN, 0, 0);
    return 0;
}

/* speak(key | nil) -> the key before. A call that is known by this key runs, and may make requests;
 * nil: none runs. The caller keeps the key. */
static int walk_speak(lua_State *L) {
    struct script *script = script_of(L);
    lua_pushstring(L, script->call); /* NULL: nil */
    script->call = luaL_optstring(L, 1, NULL);
    script->mute = script->call ? NULL : WALK_MUTE;
    return 1;
}

void walk_add(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {{"frame", walk_frame},
                                         {"next_id", walk_next_id},
                                         {"now", walk_now},
                                         {"again", walk_again},
                                         {"kept", walk_kept},
                                         {"begin", walk_begin},
                                         {"call", state_protect},
                                         {"hold", state_hold},
                                         {"speak", walk_speak},
                                         {"command", walk_command},
                                         {NULL, NULL}};
    script_add(script, L, functions);
    if (script->settings) /* none while they are read themselves */
        set_text(L, "zone", spec_rules(&script->settings->write).zone);
}

/* ---- what a walk that has failed leaves behind ---- */

struct failed_walk {
    struct script *script;
    const char *function; /* of the worker's state, that says it */
    char *answer;
};

static int ask_failed(lua_State *L) {
    struct failed_walk *failed = lua_touserdata(L, 1);
    if (failed->script->worn && !failed->script->state.borrowed)
        lua_gc(L, LUA_GCCOLLECT); /* room after a failure by memory */
    lua_rawgeti(L, LUA_REGISTRYINDEX, failed->script->worker);
    if (lua_getfield(L, -1, failed->function) != LUA_TFUNCTION)
        return 0;
    lua_call(L, 0, 1);
    const char *answer = lua_tostring(L, -1);
    failed->answer = answer ? strdup(answer) : NULL;
    return 0;
}

static char *failed_says(struct script *script, const char *function) {
    struct failed_walk failed = {.script = script, .function = function};
    if (state_call(&script->state, ask_failed, &failed, 0, FUNCTION_SPAN) != LUA_OK) {
        struct failure ignored = failure_take(&script->state);
        failure_clear(&ignored);
    }
    return failed.answer;
}

char *walk_failed_at(struct script *script, const struct job *job) {
    char *at = failed_says(script, "walk_at");
    if (!at || !job->activity || strcmp(at, job->activity) != 0)
        return at;
    free(at);
    return NULL;
}

char *script_kept(struct script *script) {
    return failed_says(script, "walk_kept");
}

/* ---- the jobs of a unit ---- */

/* A whole number of the entry on top of the stack. False: the entry has none. */
static bool number_of(lua_State *L, const char *key, int64_t *number) {
    int whole = 0;
    lua_getfield(L, -1, key);
    *number = lua_tointegerx(L, -1, &whole);
    lua_pop(L, 1);
    return whole;
}

/* A text of the entry on top of the stack, which keeps it; NULL: none. */
static const char *text_of(lua_State *L, const char *key) {
    lua_getfield(L, -1, key);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return text;
}

/* What a job has to know of its instance. */
struct owner {
    int64_t id, root;
    const char *tenant;
};

/* False: neither the instance nor a turn outside of its frame is in the unit. */
static bool owner_of(const struct unit *unit, int64_t id, struct owner *owner) {
    for (size_t i = 0; i < unit->instance_count; i++)
        if (unit->instances[i].id == id) {
            *owner = (struct owner){id, unit->instances[i].root, unit->instances[i].tenant};
            return true;
        }
    for (size_t i = 0; i < unit->turn_count; i++)
        if (unit->turns[i].instance == id) {
            *owner = (struct owner){id, unit->turns[i].root, unit->turns[i].tenant};
            return true;
        }
    return false;
}

/* "process/order/pack:after" -> "pack"; `name` has room for it. */
static void activity_of(const char *handler, char name[JOB_NAME_MAX + 1]) {
    const char *slash = strrchr(handler, '/');
    snprintf(name, JOB_NAME_MAX + 1, "%s", slash ? slash + 1 : handler);
    name[strcspn(name, ":#")] = '\0';
}

static void read_numbers(lua_State *L, struct job_spec *spec) {
    struct job *job = &spec->job;
    int64_t retries = 0;
    number_of(L, "instance", &job->instance_id);
    number_of(L, "token", &job->execution);
    spec->priority_given = number_of(L, "priority", &job->priority);
    spec->retries_given = number_of(L, "retries", &retries);
    job->retries = (int32_t)retries;
    if (!number_of(L, "due", &job->due))
        job->due = TIME_NONE;
    lua_getfield(L, -1, "exclusive");
    job->exclusive = lua_isnil(L, -1) || lua_toboolean(L, -1);
    lua_pop(L, 1);
}

/* The lane of an instance, or with lane_scope = "root" of the one at the top of the calls. */
static int64_t lane_of(const struct run *run, const struct owner *owner) {
    const struct settings *settings = run->script->settings;
    bool root = owner->root && settings->lane_of_root;
    return job_instance_lane(root ? owner->root : owner->id);
}

/* The entry is on top of the stack and keeps the texts. */
static bool read_job(lua_State *L, const struct run *run, struct job_spec *spec, char *activity,
                     struct error *error) {
    struct job *job = &spec->job;
    struct spec_rules rules = spec_rules(&run->script->settings->write);
    job_spec_begin(spec, clock_now(run->script->clock));
    job->handler = text_of(L, "handler");
    read_numbers(L, spec);
    struct owner owner;
    if (!job->handler || !owner_of(run->outcome->unit, job->instance_id, &owner))
        return error_set(error, ERROR_FAILED, "unit: a job of no instance of the unit");
    job->topic = text_of(L, "topic");
    job->term = text_of(L, "term");
    job->repeat = text_of(L, "repeat");
    spec->zone = rules.zone;
    if (job->repeat && !job_spec_repeat(spec, job->created, error))
        return false;
    job->type = job->due != TIME_NONE ? JOB_TIMER : JOB_MESSAGE;
    activity_of(job->handler, activity);
    job->activity = activity;
    job->tenant = owner.tenant;
    job_spec_define_modelled(spec, definitions_find(&run->script->definitions, job->handler),
                             &rules);
    job->lane_id = job->exclusive ? lane_of(run, &owner) : 0;
    return true;
}

/* Its id, or 0. */
static int64_t take_job(lua_State *L, struct run *run, struct error *error) {
    struct job_spec spec = {0};
    char activity[JOB_NAME_MAX + 1];
    return read_job(L, run, &spec, activity, error) ? run_collect(run, &spec, error) : 0;
}

void walk_keep(lua_State *L, int index, struct run *run) {
    struct error error = {0};
    run->outcome->unit = unit_new();
    if (!run->outcome->unit)
        luaL_error(L, "out of memory while a unit was copied");
    walk_unit(L, index, run->outcome->unit);
    lua_Integer count = lua_getfield(L, index, "jobs") == LUA_TTABLE ? luaL_len(L, -1) : 0;
    for (lua_Integer i = 1; i <= count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i);
        if (take_job(L, run, &error) == 0)
            luaL_error(L, "%s", error.text);
    }
    lua_pop(L, 1);
}

/* ---- pictures ---- */

enum { PICTURE_SPAN = 5000 }; /* ms */

struct picture {
    struct script *script;
    const json_t *asked;
    json_t *answer;
    struct error *error;
};

static int picture_draw(lua_State *L) {
    struct picture *picture = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, picture->script->worker);
    lua_getfield(L, -1, "picture");
    value_push_json(L, picture->asked);
    lua_call(L, 1, 1);
    picture->answer = value_to_json(L, -1, "picture", picture->error);
    return 0;
}

static json_t *picture_refuse(struct script *script, struct error *error) {
    struct state *state = &script->state;
    if (state->stopped != STOP_NONE) {
        script->worn |= state->stopped == STOP_MEMORY;
        lua_pop(state->current, 1);
        error_set(error, ERROR_FAILED, "the picture %s",
                  state->stopped == STOP_MEMORY ? "needed more than the memory limit"
                                                : "took longer than PT5S");
        return NULL;
    }
    struct failure failure = failure_describe(state);
    error_set(error, ERROR_FAILED, "%s", failure.message ? failure.message : "out of memory");
    failure_clear(&failure);
    return NULL;
}

json_t *script_picture(struct script *script, const json_t *asked, struct error *error) {
    struct picture picture = {.script = script, .asked = asked, .error = error};
    const char *before = script->mute;
    script->mute = "in a picture";
    int status = state_call(&script->state, picture_draw, &picture, 0, PICTURE_SPAN);
    script->mute = before;
    return status == LUA_OK ? picture.answer : picture_refuse(script, error);
}
