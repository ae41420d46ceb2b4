/* user_scopes.h - what users may whom a proxy names (the setting user_scopes, docs/security.md).
 *
 *   { anna = "operate", ["@ops"] = { "read", "work" },
 *     ["*"] = { scopes = "read", tenant = "acme", handlers = { "mail*" } } }
 *
 * A key is the name of a user, "@" and a group of theirs, or "*" for each user of whom no other key
 * tells. Pure. */
#pragma once

#include "job/caller/scope.h"

/* What a user may; the texts are the setting's. */
struct user_rights {
    unsigned scopes;
    const char *tenant;     /* NULL: all */
    const json_t *handlers; /* NULL: all */
};

/* *field becomes a copy; NULL where nobody is named. `label` is what an error calls the setting. */
bool user_scopes_set(json_t **field, const json_t *value, const char *label, struct error *error);

/* What the user may: by the entry of that name; without one by those of the groups together;
 * without these by "*". The groups are a list between commas; NULL: none. If their tenants or
 * handlers differ, they give nothing: what is seen would depend on their order. */
struct user_rights user_scopes_of(const json_t *users, const char *user, const char *groups);
