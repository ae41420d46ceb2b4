/* memory.c - a library that is loaded before the program and refuses it memory: REFUSE_MANY
 * requests from number REFUSE_AT on. At the end COUNT_TO gets the number of requests there were.
 * Nothing is refused while the user's name is looked up: without memory the C library then ends the
 * process with an assertion of its own. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long requests;
static long refused, last;
static _Thread_local int spared;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("REFUSE_AT");
    const char *many = getenv("REFUSE_MANY");
    refused = at ? atol(at) : 0;
    last = refused + (many ? atol(many) : 1) - 1;
    unsetenv("LD_PRELOAD");
    atomic_store(&requests, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("COUNT_TO");
    char text[32];
    int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&requests));
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    if (file >= 0 && write(file, text, (size_t)size) == size)
        close(file);
}

static int refuses(void) {
    if (spared)
        return 0;
    long request = atomic_fetch_add(&requests, 1) + 1;
    if (request < refused || request > last)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return refuses() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return refuses() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return size && refuses() ? NULL : __libc_realloc(old, size);
}

int getpwuid_r(uid_t id, struct passwd *entry, char *room, size_t size, struct passwd **found) {
    spared = 1;
    int (*next)(uid_t, struct passwd *, char *, size_t, struct passwd **);
    *(void **)&next = dlsym(RTLD_NEXT, "getpwuid_r");
    int failure = next(id, entry, room, size, found);
    spared = 0;
    return failure;
}
