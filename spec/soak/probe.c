/* probe.c - what handlers under test write down, from outside the program: one write of one line of
 * fixed length to an append-only log, with a sum, on a clock that nobody sets. */
#include <fcntl.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 256, SUM = 9, MAX_FIELDS = 12 };

int luaopen_probe(lua_State *L);

static uint32_t sum(const char *text, size_t length) {
    uint32_t rest = ~(uint32_t)0;
    for (size_t i = 0; i < length; i++) {
        rest ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            rest = (rest >> 1) ^ (0xedb88320u & (0u - (rest & 1)));
    }
    return ~rest;
}

/* Asks the kernel, not the C library: whoever fakes the library's clock leaves this one alone. */
static long long raw_ns(void) {
    struct timespec at = {0, 0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
    return (long long)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* The wall clock as this process sees it, faked or not. */
static long long wall_ms(void) {
    struct timespec at = {0, 0};
    clock_gettime(CLOCK_REALTIME, &at);
    return (long long)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

/* Opened for each line: it is the same in every state, thread and process. */
static void append(const char *line) {
    const char *path = getenv("SOAK_LOG");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0 || write(file, line, LINE) != LINE)
        fprintf(stderr, "probe: cannot write to the log\n");
    if (file >= 0)
        close(file);
}

/* probe.write(source, event, job, attempt, token, priority, lane, due, retries, hash, note) */
static int probe_write(lua_State *L) {
    const char *field[MAX_FIELDS] = {0};
    for (int i = 1; i < MAX_FIELDS; i++)
        field[i] = lua_isnoneornil(L, i) ? "-" : luaL_tolstring(L, i, NULL);
    const char *node = getenv("SOAK_NODE");
    char line[LINE + 1];
    int length = snprintf(line + SUM, sizeof line - SUM,
                          "%lld %s %ld %s %s %s %s %s %s %s %s %s %s %lld %s", raw_ns(), field[1],
                          (long)getpid(), node ? node : "-", field[2], field[3], field[4], field[5],
                          field[6], field[7], field[8], field[9], field[10], wall_ms(), field[11]);
    int end = length < LINE - SUM - 1 ? length + SUM : LINE - 1;
    memset(line + end, ' ', (size_t)(LINE - end));
    line[LINE - 1] = '\n';
    char head[SUM + 1];
    snprintf(head, sizeof head, "%08x ", sum(line + SUM, LINE - SUM - 1));
    memcpy(line, head, SUM);
    append(line);
    return 0;
}

static int probe_hash(lua_State *L) {
    size_t length = 0;
    const char *text = luaL_checklstring(L, 1, &length);
    char hash[32];
    snprintf(hash, sizeof hash, "%08x-%zu", sum(text, length), length);
    lua_pushstring(L, hash);
    return 1;
}

/* probe.sleep(milliseconds): in the kernel, whatever the time is said to be. */
static int probe_sleep(lua_State *L) {
    lua_Integer ms = luaL_checkinteger(L, 1);
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    while (syscall(SYS_nanosleep, &span, &span) != 0)
        continue;
    return 0;
}

/* probe.die(): as by kill -9, at this very place. */
static int probe_die(lua_State *L) {
    (void)L;
    return kill(getpid(), SIGKILL);
}

/* What a handler starts has the system's clock: libfaketime shares a lock between a process and its
 * children, and a child that is killed while it holds it leaves its parent standing in stat(2). The
 * folder is loaded before there are threads. */
int luaopen_probe(lua_State *L) {
    if (getenv("LD_PRELOAD"))
        unsetenv("LD_PRELOAD");
    static const luaL_Reg functions[] = {{"write", probe_write},
                                         {"hash", probe_hash},
                                         {"sleep", probe_sleep},
                                         {"die", probe_die},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
