/* token.c - tokens of callers over HTTP. */
#include "engine/command/token.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include <string.h>

static const struct listing listing = {ASK_TOKENS, "tokens"};

/* An array of all values of a flag; each may hold several between commas. NULL: absent. */
static json_t *flag_names(const struct flags *flags, const char *flag) {
    json_t *names = flags_has(flags, flag) ? json_array() : NULL;
    for (size_t i = 0; names && i < flags->count; i++) {
        const char *text = flags->given[i].value;
        if (strcmp(flags->given[i].name, flag) != 0 || !text)
            continue;
        for (size_t size; *text; text += size + (text[size] == ',')) {
            size = strcspn(text, ",");
            json_array_append_new(names, json_stringn(text, size));
        }
    }
    return names;
}

static bool token_tell(const struct cli *cli, const char *name, const char *token,
                       struct error *error) {
    if (cli->json)
        return output_json(json_pack("{ss ss}", "name", name, "token", token), error);
    output_add("%s\n", token);
    fprintf(stderr, "moonshift: this is the only time that the token is shown\n");
    return true;
}

static bool create_run(struct cli *cli, const struct flags *flags, struct error *error) {
    char token[TOKEN_SIZE];
    json_t *described = json_pack(
        "{ss so* ss* so* ss* ss*}", "name", flags->words[0], "scopes", flag_names(flags, "--scope"),
        "tenant", flags_text(flags, "--tenant"), "handlers", flag_names(flags, "--handler"), "rate",
        flags_text(flags, "--rate"), "expires", flags_text(flags, "--expires"));
    struct engine *engine = setup_engine(cli, flags, STORE_CREATE, false, error);
    bool done = engine && engine_token_create(engine, described, token, error);
    json_decref(described);
    engine_close(engine);
    return done && token_tell(cli, flags->words[0], token, error);
}

static bool revoke_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    bool done = engine && engine_token_revoke(engine, flags->words[0], error);
    engine_close(engine);
    if (!done)
        return false;
    if (cli->json)
        return output_json(json_pack("{sb}", "revoked", true), error);
    output_add("token %s revoked\n", flags->words[0]);
    return true;
}

static const struct flag create_flags[] = {
    {"--scope", "NAME,…", "read, payload, enqueue, work, operate, admin"},
    {"--tenant", "NAME", "nothing of other tenants is in sight"},
    {"--handler", "NAME,…", "nothing of other handlers is in sight; topic/* means all topics"},
    {"--rate", "N/SPAN", "requests at most, such as 100/PT1S"},
    {"--expires", "SPAN|TIME", "it counts until then, such as P90D"},
    {0},
};

static const struct flag list_flags[] = {LIST_PAGE_FLAGS, FILTERS_OF(ASK_TOKENS), {0}};

const struct cli_command token_commands[] = {
    {"token create", "NAME --scope NAME,… [--tenant NAME] [--handler NAME,…] …",
     "make a token for a caller over HTTP, and print it once",
     "The store keeps its hash. operate includes read and payload.", create_flags, 1, 1, false,
     false, create_run},
    {"token list", "[--limit N]", "list the tokens, with what they may do",
     "With when they were used; revoked ones say since when.", list_flags, 0, 0, false, false,
     list_run, &listing},
    {"token revoke", "NAME", "from now on the token counts no more",
     "The network face forgets it within a second.", NULL, 1, 1, false, false, revoke_run},
    {0},
};
