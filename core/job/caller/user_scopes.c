#include "job/caller/user_scopes.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 255 /* bytes */ };

static const char *const keys[] = {"scopes", "tenant", "handlers", NULL};

/* ---- the setting ---- */

static bool check_table(const json_t *entry, struct error *error) {
    unsigned scopes;
    const json_t *tenant = json_object_get(entry, "tenant");
    const json_t *handlers = json_object_get(entry, "handlers");
    const size_t size = json_string_length(tenant);
    if (!json_keys(entry, keys, "unknown key", "expected", error) ||
        !scopes_read(json_object_get(entry, "scopes"), &scopes, error))
        return false;
    if (tenant && (size == 0 || size > NAME_MOST))
        return json_refuse("tenant", tenant, "a text of 1 to 255 bytes", error);
    return !handlers || handlers_check(handlers, error);
}

static bool check_one(const char *name, const json_t *entry, const char *label,
                      struct error *error) {
    struct error why = {0};
    unsigned scopes;
    const bool fits =
        json_is_object(entry) ? check_table(entry, &why) : scopes_read(entry, &scopes, &why);
    if (!*name || strcmp(name, "@") == 0)
        return error_set(error, ERROR_INVALID,
                         "%s \"%s\": expected the name of a user, \"@\" and a group, or \"*\"",
                         label, name);
    return fits || error_set(error, why.code, "%s.%.100s: %s", label, name, why.text);
}

bool user_scopes_set(json_t **field, const json_t *value, const char *label, struct error *error) {
    const bool none = json_is_null(value) || (json_is_array(value) && !json_array_size(value));
    const char *name;
    json_t *entry;
    if (!none && !json_is_object(value))
        return json_refuse(label, value, "scopes by the names of users", error);
    json_object_foreach(json_unchanged(value), name, entry)
        if (!check_one(name, entry, label, error))
            return false;
    return json_keep(field, none || !json_object_size(value) ? NULL : value) ||
           error_no_memory(error);
}

/* ---- the rights ---- */

static struct user_rights rights_of(const json_t *entry) {
    struct user_rights rights = {0};
    const bool table = json_is_object(entry);
    scopes_read(table ? json_object_get(entry, "scopes") : entry, &rights.scopes, NULL);
    if (table) {
        rights.tenant = json_text(entry, "tenant");
        rights.handlers = json_object_get(entry, "handlers");
    }
    return rights;
}

static bool same_sight(const struct user_rights *left, const struct user_rights *right) {
    const char *here = left->tenant ? left->tenant : "",
               *there = right->tenant ? right->tenant : "";
    return strcmp(here, there) == 0 &&
           (left->handlers == right->handlers || json_equal(left->handlers, right->handlers));
}

/* The entry of a group; its name has `size` bytes. */
static const json_t *group_entry(const json_t *users, const char *name, size_t size) {
    char key[NAME_MOST + 2];
    if (size == 0 || size > NAME_MOST)
        return NULL;
    snprintf(key, sizeof key, "@%.*s", (int)size, name);
    return json_object_get(users, key);
}

/* True if any of the groups has an entry. */
static bool groups_read(const json_t *users, const char *groups, struct user_rights *all) {
    bool found = false, agree = true;
    for (const char *at = groups; at && *at;) {
        at += strspn(at, ", ");
        const size_t size = strcspn(at, ",");
        size_t bare = size;
        while (bare > 0 && at[bare - 1] == ' ')
            bare--;
        const json_t *entry = group_entry(users, at, bare);
        struct user_rights one = rights_of(entry);
        agree = agree && (!entry || !found || same_sight(all, &one));
        one.scopes |= all->scopes;
        *all = entry ? one : *all;
        found = found || entry;
        at += size;
    }
    if (!agree)
        *all = (struct user_rights){0};
    return found;
}

struct user_rights user_scopes_of(const json_t *users, const char *user, const char *groups) {
    struct user_rights rights = {0};
    const json_t *own = json_object_get(users, user);
    if (own)
        return rights_of(own);
    if (groups_read(users, groups, &rights))
        return rights;
    return rights_of(json_object_get(users, "*"));
}
