/* os.execute and io.popen, ours: see program.h. */
#include "script/natives/natives.h"
#include "script/program.h"
#include <errno.h>
#include <lualib.h>
#include <string.h>
#include <unistd.h>

/* As the standard library's stream, with the program behind it. */
struct stream {
    luaL_Stream stream;
    struct program process;
};

static int push_status(lua_State *L, int status) {
    if (status != -1)
        errno = 0;
    return luaL_execresult(L, status);
}

static int native_execute(lua_State *L) {
    struct state *state = state_of(L);
    const char *command = luaL_optstring(L, 1, NULL);
    struct program process;
    if (!command) {
        lua_pushboolean(L, 1);
        return 1;
    }
    errno = 0;
    if (!program_start(&process, state, command, 0))
        return luaL_fileresult(L, 0, NULL);
    int status = program_wait(&process);
    if (state->depth > 0)
        state_check(state, L);
    return push_status(L, status);
}

static void unlink_process(struct program *process) {
    struct program **at = process->state ? &process->state->processes : NULL;
    while (at && *at && *at != process)
        at = &(*at)->next;
    if (at && *at)
        *at = process->next;
}

static int close_stream(lua_State *L) {
    struct stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    fclose(stream->stream.f);
    int status = program_wait(&stream->process);
    unlink_process(&stream->process);
    return push_status(L, status);
}

/* There is no stream: nobody could ever wait for the program. */
static int give_up(lua_State *L, struct program *process, const char *command) {
    int failure = errno;
    close(process->fd);
    program_end(process);
    unlink_process(process);
    errno = failure;
    return luaL_fileresult(L, 0, command);
}

static char check_mode(lua_State *L) {
    const char *mode = luaL_optstring(L, 2, "r");
    luaL_argcheck(L, strcmp(mode, "r") == 0 || strcmp(mode, "w") == 0, 2,
                  "invalid mode (expected \"r\" or \"w\")");
    return mode[0];
}

static int native_popen(lua_State *L) {
    struct state *state = state_of(L);
    const char *command = luaL_checkstring(L, 1);
    char mode = check_mode(L);
    struct stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
    memset(stream, 0, sizeof *stream);
    luaL_setmetatable(L, LUA_FILEHANDLE);
    if (!program_start(&stream->process, state, command, mode))
        return luaL_fileresult(L, 0, command);
    stream->process.next = state->processes;
    state->processes = &stream->process;
    stream->stream.f = program_stream(&stream->process, mode);
    if (!stream->stream.f)
        return give_up(L, &stream->process, command);
    stream->stream.closef = close_stream;
    return 1;
}

void process_add(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {
        {"execute", native_execute}, {"popen", native_popen}, {NULL, NULL}};
    script_add(script, L, functions);
}
