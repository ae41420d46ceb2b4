#include "store/postgres/db/libpq.h"
#include "base/thread.h"
#include <assert.h>
#include <dlfcn.h>
#include <string.h>

#define FILE_NAME "libpq.so.5"
#define NAME(name) #name,

struct libpq libpq;

static const char *const names[] = {LIBPQ(NAME)};
enum { COUNT = sizeof names / sizeof *names };
static_assert(sizeof(struct libpq) == COUNT * sizeof(void *), "a pointer for each name");

static struct mutex mutex = {PTHREAD_MUTEX_INITIALIZER};
static bool loaded;

/* A library that stays: sessions of other threads may use it until the process ends. */
static bool load(struct error *error) {
    void *library = dlopen(FILE_NAME, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return error_set(error, ERROR_CONFIG, "a store on a server needs " FILE_NAME ": %s",
                         dlerror());
    for (size_t i = 0; i < COUNT; i++) {
        void *function = dlsym(library, names[i]);
        if (!function)
            return error_set(error, ERROR_CONFIG, FILE_NAME " is too old: it has no %s", names[i]);
        memcpy((char *)&libpq + i * sizeof function, &function, sizeof function);
    }
    return true;
}

bool libpq_load(struct error *error) {
    mutex_lock(&mutex);
    loaded = loaded || load(error);
    bool fine = loaded;
    mutex_unlock(&mutex);
    return fine;
}
