/* boot_contract.c - the modules inside the program: what Lua compiled at build time is what it
 * makes of their texts now. */
#include "base/embedded.h"
#include "base/text.h"
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static int put(lua_State *L, const void *part, size_t size, void *arg) {
    (void)L;
    text_append(arg, part, size);
    return 0;
}

static bool is_compiled(lua_State *L, const struct embedded *file) {
    struct text code = {0};
    char name[256];
    snprintf(name, sizeof name, "@%s", file->path);
    bool same = luaL_loadbufferx(L, file->text, file->size, name, "t") == LUA_OK &&
                lua_dump(L, put, &code, 0) == 0 && code.size == file->code_size &&
                memcmp(code.data, file->code, code.size) == 0;
    text_clear(&code);
    lua_settop(L, 0);
    return same;
}

/* Counts what has code, by the way. */
static bool all_compiled(lua_State *L, int *modules) {
    for (const struct embedded *file = embedded_files; file->path; file++) {
        bool module = strncmp(file->path, "lua/", 4) == 0;
        if (module != (file->code != NULL) || (module && !is_compiled(L, file))) {
            printf("# %s\n", file->path);
            return false;
        }
        *modules += module;
    }
    return true;
}

int main(void) {
    lua_State *L = luaL_newstate();
    int modules = 0;
    bool same = strstr(lua_ident, embedded_release) != NULL; /* else the texts are taken */
    check("the code has the release of the Lua that made it",
          strncmp(embedded_release, "Lua 5.4.", 8) == 0);
    check("each module has the code of its text, and nothing else has any",
          !same || (all_compiled(L, &modules) && modules > 20));
    lua_close(L);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
