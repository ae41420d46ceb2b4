/* import.c - a crontab becomes files of schedules (rules §14). lua/moonshift/crontab.lua reads it.
 */
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/shown/output.h"
#include "cli/verb/service/new_file.h"
#include "lua/lua_program.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char settings_text[] = "-- Commands may run, and end after this at the latest.\n"
                                    "return { stock = { \"shell\" }, timeout = \"24h\" }\n";

/* ---- what is read ---- */

/* The zone of the machine's clock, as TZ, /etc/timezone or /etc/localtime name it; NULL: UTC. */
static char *machine_zone(void) {
    const char *given = getenv("TZ");
    size_t size = 0;
    char *zone =
        given && *given ? strdup(given + (*given == ':')) : file_read("/etc/timezone", &size);
    char path[PATH_MAX] = "";
    if (!zone && readlink("/etc/localtime", path, sizeof path - 1) > 0) {
        const char *at = strstr(path, "zoneinfo/");
        zone = at ? strdup(at + strlen("zoneinfo/")) : NULL;
    }
    if (zone)
        zone[strcspn(zone, "\n")] = '\0';
    if (zone && (!*zone || strcmp(zone, "UTC") == 0 || strcmp(zone, "Etc/UTC") == 0)) {
        free(zone);
        zone = NULL;
    }
    return zone;
}

/* { name, text, system } of a file, or of standard input. */
static json_t *crontab_load(const char *path, bool system, struct error *error) {
    bool input = strcmp(path, "-") == 0;
    size_t size = 0;
    char *text = input ? file_read_open(STDIN_FILENO, &size) : file_read(path, &size);
    if (!text)
        return error_null(error_set(error, ERROR_IO, "\"%s\": %s", path, strerror(errno)));
    size_t mark = utf8_mark(text, size);
    json_t *file = json_pack("{ss so sb}", "name", input ? "standard input" : path, "text",
                             strlen(text) == size ? json_stringn(text + mark, size - mark) : NULL,
                             "system", system);
    free(text);
    if (!file)
        error_set(error, ERROR_INVALID, "\"%s\": not a text in UTF-8", path);
    return file;
}

/* cron reads a file of a directory only if its name is made of these. */
static int is_read(const struct dirent *entry) {
    const char *name = entry->d_name;
    bool plain = name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-")] == '\0';
    if (!plain && *name != '.')
        output_note("\"%s\" is passed over, as cron does for its name", name);
    return plain;
}

/* The files of a directory such as /etc/cron.d, by their names: a user stands in each line. */
static bool directory_load(const char *path, json_t *files, struct error *error) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_read, alphasort);
    bool fine = count >= 0 || error_set(error, ERROR_IO, "\"%s\": %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *name = NULL;
        fine = fine &&
               (asprintf(&name, "%s/%s", path, entries[i]->d_name) > 0 || error_no_memory(error));
        json_t *file = fine ? crontab_load(name, true, error) : NULL;
        fine = file && json_array_append_new(files, file) == 0;
        free(name);
        free(entries[i]);
    }
    free(entries);
    return fine;
}

static bool word_load(const char *path, json_t *files, struct error *error) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return directory_load(path, files, error);
    json_t *file = crontab_load(path, false, error);
    return file && json_array_append_new(files, file) == 0;
}

/* What the program is asked: { files, zone, system }. A new reference. */
static json_t *question_make(const struct flags *flags, struct error *error) {
    const char *given = flags_text(flags, "--zone");
    char *zone = given ? NULL : machine_zone();
    json_t *files = json_array();
    bool fine = true;
    for (int i = 0; fine && i < flags->word_count; i++)
        fine = word_load(flags->words[i], files, error);
    json_t *question = json_pack("{so ss* sb}", "files", files, "zone", given ? given : zone,
                                 "system", flags_has(flags, "--system"));
    free(zone);
    return json_kept(question, fine);
}

/* ---- what is written ---- */

static struct new_file file_of(const json_t *row) {
    const char *text = json_string_value(json_object_get(row, "text"));
    return (struct new_file){json_string_value(json_object_get(row, "path")), text, strlen(text)};
}

/* The settings without which no schedule of the kind may run, unless the folder has some. */
static bool settings_add(const char *directory, json_t *files, struct error *error) {
    struct new_file settings = {.name = "moonshift.lua"};
    struct error ignored = {0};
    if (!new_file_free(directory, &settings, &ignored)) {
        output_note("\"%s/moonshift.lua\" is there: it needs stock = { \"shell\" }, and a timeout "
                    "for the longest command",
                    directory);
        return true;
    }
    return json_array_append_new(
               files, json_pack("{ss ss}", "path", settings.name, "text", settings_text)) == 0 ||
           error_no_memory(error);
}

static bool files_write(const char *directory, const json_t *files, struct error *error) {
    for (size_t i = 0; i < 2 * json_array_size(files); i++) {
        struct new_file file = file_of(json_array_get(files, i % json_array_size(files)));
        if (!(i < json_array_size(files) ? new_file_free(directory, &file, error)
                                         : new_file_write(directory, &file, error)))
            return false;
    }
    return true;
}

static void said_print(const json_t *said) {
    size_t i;
    const json_t *one;
    json_array_foreach(said, i, one)
        output_note("%s: line %lld: %s", json_string_value(json_object_get(one, "name")),
                    (long long)json_integer_value(json_object_get(one, "line")),
                    json_string_value(json_object_get(one, "text")));
}

/* Takes the answer over. */
static bool answer_print(const struct cli *cli, const char *directory, json_t *answer,
                         struct error *error) {
    size_t i;
    const json_t *file;
    said_print(cli->json ? NULL : json_object_get(answer, "said"));
    if (cli->json)
        return output_json(answer, error);
    json_array_foreach(json_object_get(answer, "files"), i, file)
        output_add("%s/%s\n", directory, json_string_value(json_object_get(file, "path")));
    json_decref(answer);
    return true;
}

/* An empty table of Lua comes as an object. */
static json_t *list_of(json_t *answer, const char *key) {
    if (answer && !json_is_array(json_object_get(answer, key)))
        json_object_set_new(answer, key, json_array());
    return json_object_get(answer, key);
}

static bool import_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *given = flags_text(flags, "-C"), *directory = given ? given : ".";
    json_t *question = question_make(flags, error);
    struct lua_program program = {.path = "lua/moonshift/crontab.lua", .asked = question};
    json_t *answer = question ? lua_program_run(&program, error) : NULL;
    json_t *files = list_of(answer, "files");
    bool fine = list_of(answer, "said") && settings_add(directory, files, error);
    if (fine && !flags_has(flags, "--dry-run"))
        fine = new_file_directory(directory, error) && files_write(directory, files, error);
    json_decref(question);
    if (fine)
        return answer_print(cli, directory, answer, error);
    json_decref(answer);
    return false;
}

static const struct flag import_flags[] = {
    {"--system", NULL, "a user stands before each command, as in /etc/crontab"},
    {"--zone", "NAME", "of the crontab's times (the zone of this machine)"},
    {"--dry-run", NULL, "say which files it would write, write none"},
    {0},
};

const struct cli_command import_commands[] = {
    {"import crontab", "FILE|DIRECTORY|-… [--system] [--zone NAME]",
     "write a file of schedules/ for each line",
     "Of a directory such as /etc/cron.d all files are read, with a user in each line.\n"
     "The files go into the folder of -C. One that is there already is refused, and then nothing\n"
     "is written. What cannot be carried over is said line by line.",
     import_flags, 1, -1, false, false, import_run},
    {0},
};
