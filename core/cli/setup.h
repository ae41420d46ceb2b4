/* setup.h - the script folder, the settings and the store that a verb works on. */
#pragma once

#include "cli/cli.h"
#include "cli/words/flags.h"
#include "engine/engine.h"

/* Finds the folder (DIR or -C, MOONSHIFT_DIR, the working directory if it looks like one) and reads
 * it, then every setting: flags, variables, moonshift.lua, defaults. A verb that takes a folder
 * needs one. */
bool setup_settings(struct cli *cli, const struct flags *flags, struct error *error);

/* The same in three steps, for `check`: flags and variables; the folder's bytes; moonshift.lua. */
bool setup_outside(struct cli *cli, const struct flags *flags, struct error *error);
bool setup_folder(struct cli *cli, struct error *error);
bool setup_file(struct cli *cli, struct error *error);

/* Takes the script folder from the store: the deployment of this name, followed as it changes. Then
 * every setting, as setup_settings does. */
bool setup_deployment(struct cli *cli, const struct flags *flags, const char *name,
                      struct error *error);

/* moonshift.lua of `folder` applied to `settings`; its store is beside that file. `directory` is
 * NULL for a folder of the store. */
bool setup_apply(struct settings *settings, const struct folder *folder, const char *directory,
                 struct error *error);

/* The same for a further folder of a verb that takes several. */
bool setup_directory(struct cli *cli, const struct flags *flags, const char *directory,
                     struct error *error);

/* True if there is a script folder; else an error that says how to name one. */
bool setup_needs_folder(const struct cli *cli, struct error *error);

/* False: the store is one in memory, which no other process would ever see, or a new one while jobs
 * wait in the working directory (engine/home.h). */
bool setup_keeps(const struct cli *cli, struct error *error);

/* setup_settings, then an engine; with `scripts`, the folder (if there is one) is loaded into it.
 */
struct engine *setup_engine(struct cli *cli, const struct flags *flags, enum store_mode mode,
                            bool scripts, struct error *error);

/* The same for questions alone: nothing is loaded or written. */
struct engine *setup_reader(struct cli *cli, const struct flags *flags, struct error *error);

/* The same for lists and counts, which may be a little old: the replica of the setting read_url is
 * asked, if there is one, and how far it is behind is said on standard error. */
struct engine *setup_replica(struct cli *cli, const struct flags *flags, struct error *error);

/* The engine alone, once the settings are there. */
struct engine *setup_open(struct cli *cli, enum store_mode mode, bool scripts, struct error *error);

void setup_clear(struct cli *cli);

/* Asks one question, by an engine that is opened for it alone. Takes the question over, NULL: no
 * memory. A new reference, or NULL with `error` filled. */
json_t *setup_ask(struct cli *cli, const struct flags *flags, enum ask_kind kind, json_t *question,
                  struct error *error);
