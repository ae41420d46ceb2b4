/* store.c - making a store, bringing it up to date, and who may use it. */
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "engine/maintenance.h"
#include "job/store_url.h"
#include <stdio.h>

static void say_schema(const char *store, const struct store_schema *schema) {
    output_add("%s: ", store);
    if (schema->was == 0)
        output_add("made, schema %lld\n", (long long)schema->version);
    else if (schema->was == schema->version)
        output_add("schema %lld already\n", (long long)schema->version);
    else
        output_add("schema %lld, was %lld\n", (long long)schema->version, (long long)schema->was);
    if (schema->waits)
        output_add("the last step to schema %lld waits for executors of an older program: %s\n",
                   (long long)schema->waits, schema->for_whom);
}

static bool give_schema(const struct cli *cli, const struct store_schema *schema,
                        struct error *error) {
    char shown[STORE_SHOWN];
    store_url_show(cli->settings.store, shown);
    if (!cli->json) {
        say_schema(shown, schema);
        return true;
    }
    return output_json(
        json_pack("{ss,sI,sI,sI,sI,ss?}", "store", shown, "was", (json_int_t)schema->was, "schema",
                  (json_int_t)schema->version, "oldest", (json_int_t)schema->oldest, "waits",
                  (json_int_t)schema->waits, "for", schema->waits ? schema->for_whom : NULL),
        error);
}

static bool provision_run(struct cli *cli, const struct flags *flags, bool creates,
                          struct error *error) {
    struct store_schema schema = {0};
    if (!setup_settings(cli, flags, error) || !setup_keeps(cli, error))
        return false;
    return engine_provision(&cli->settings, creates, &schema, error) &&
           give_schema(cli, &schema, error);
}

static bool create_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return provision_run(cli, flags, true, error);
}

static bool migrate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return provision_run(cli, flags, false, error);
}

/* The statements, one a text. */
static json_t *statements_json(char *text) {
    json_t *list = json_array();
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "--", 2) != 0)
            json_array_append_new(list, json_string(line));
    return list;
}

static const char *role_of(const struct flags *flags, const char *flag, const char *otherwise) {
    const char *role = flags_text(flags, flag);
    return role ? role : otherwise;
}

typedef bool statements(const struct settings *settings, const struct store_roles *roles,
                        struct text *text, struct error *error);

static bool give_statements(const struct cli *cli, const struct flags *flags, statements *of,
                            struct text *text, struct error *error) {
    const struct store_roles roles = {.owner = role_of(flags, "--owner", "moonshift_owner"),
                                      .worker = role_of(flags, "--worker", "moonshift_worker"),
                                      .reader = role_of(flags, "--reader", "moonshift_reader"),
                                      .enqueuer =
                                          role_of(flags, "--enqueuer", "moonshift_enqueuer")};
    if (!of(&cli->settings, &roles, text, error))
        return false;
    if (cli->json)
        return output_json(json_pack("{so*}", "statements", statements_json(text->data)), error);
    output_add("%s", text->data);
    return true;
}

static bool statements_run(struct cli *cli, const struct flags *flags, statements *of,
                           struct error *error) {
    struct text text = {0};
    bool fine = setup_settings(cli, flags, error) && give_statements(cli, flags, of, &text, error);
    text_clear(&text);
    return fine;
}

static bool grants_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return statements_run(cli, flags, engine_grants, error);
}

static bool functions_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return statements_run(cli, flags, engine_functions, error);
}

static const struct flag grants_flags[] = {
    {"--owner", "ROLE", "who makes and migrates the tables (else moonshift_owner)"},
    {"--worker", "ROLE", "who runs, creates and operates jobs (else moonshift_worker)"},
    {"--reader", "ROLE", "who only asks (else moonshift_reader)"},
    {0},
};

static const struct flag functions_flags[] = {
    {"--enqueuer", "ROLE", "who only enqueues (else moonshift_enqueuer)"},
    {0},
};

const struct cli_command store_commands[] = {
    {"store create", "", "make the store, unless it is there",
     "Other verbs that create jobs make it too. On a server that needs the right to make tables;\n"
     "afterwards no verb but `store migrate` does.",
     NULL, 0, 0, false, false, create_run},
    {"store migrate", "", "bring the store to this program's version",
     "A file is brought there by whatever writes next. A server's store is brought there by this\n"
     "verb alone, while executors work: those of the version before go on. A step that they could\n"
     "not work with waits until none is left; then this verb is run again.",
     NULL, 0, 0, false, false, migrate_run},
    {"store grants", "[--owner ROLE] [--worker ROLE] [--reader ROLE]",
     "print what gives roles of a server their rights",
     "Statements of SQL for an administrator of the server, who has made the roles. Nothing is\n"
     "asked or changed.",
     grants_flags, 0, 0, false, false, grants_run},
    {"store functions", "[--enqueuer ROLE]", "print the functions by which programs enqueue",
     "Statements of SQL for an administrator of the server, to be run once the store is made. "
     "They\n"
     "make the function `enqueue(handler, payload, options)` in its schema: a job is there once\n"
     "the transaction that calls it is committed. Nothing is asked or changed.",
     functions_flags, 0, 0, false, false, functions_run},
    {0},
};
