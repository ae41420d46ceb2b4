#include "cli/verb/processes/process_file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "script/folder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool process_file_is(const char *path) {
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* A folder that has this file alone, among its processes. */
static struct folder *folder_of_file(const char *path, struct error *error) {
    size_t size;
    const char *slash = strrchr(path, '/');
    char *text = file_read(path, &size);
    struct text name = {0};
    if (!text)
        return error_null(error_set(error, ERROR_CONFIG, "%s: %s", path, strerror(errno)));
    text_add(&name, "processes/%s", slash ? slash + 1 : path);
    json_t *file = json_pack("[{ss ss%}]", "path", name.data ? name.data : "", "text", text, size);
    struct folder *folder = file ? folder_from_json(file, "process check", 0, error) : NULL;
    if (!file)
        error_set(error, ERROR_CONFIG, "%s: not valid UTF-8", path);
    json_decref(file);
    text_clear(&name);
    free(text);
    return folder;
}

/* A name with such an end means a file, whether it is there or not. */
static bool names_file(const char *name) {
    static const char *const ends[] = {".bpmn", ".xml", ".lua"};
    size_t size = name ? strlen(name) : 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (size > strlen(ends[i]) && strcmp(name + size - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

bool process_file_take(struct cli *cli, const char *file, struct error *error) {
    if (names_file(file) && access(file, F_OK) != 0)
        return error_set(error, ERROR_CONFIG, "file \"%s\": %s", file, strerror(errno));
    if (!process_file_is(file))
        return setup_needs_folder(cli, error) && setup_folder(cli, error) && setup_file(cli, error);
    cli->folder = folder_of_file(file, error);
    return cli->folder && settings_check(&cli->settings, error);
}

bool process_file_names(const char *word) {
    return process_file_is(word) || names_file(word);
}
