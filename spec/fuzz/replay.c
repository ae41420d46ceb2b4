/* replay.c - every saved input once through its target: `replay FOLDER`, with a folder for each
 * target. Each has a process and a few seconds of CPU of its own. */
#include "base/json.h"
#include "base/text.h"
#include "fuzz.h"
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 5

static int passed, failed;

static void complain(const char *path, const char *problem) {
    printf("not ok - %s: %s\n", path, problem);
    failed++;
}

static void replay_file(fuzz_target *run, const char *path) {
    size_t size = 0;
    char *data = file_read(path, &size);
    if (!data) {
        complain(path, "cannot be read");
        return;
    }
    fflush(NULL);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
        uint8_t *input = size ? malloc(size) : NULL; /* of just its size, for the sanitizers */
        if (size)
            memcpy(input, data, size);
        run(input, size);
        free(input);
        _exit(0);
    }
    free(data);
    if (child < 0 || waitpid(child, &status, 0) != child)
        complain(path, "cannot be run");
    else if (WIFSIGNALED(status))
        complain(path, strsignal(WTERMSIG(status)));
    else if (status)
        complain(path, "ended with an error");
    else
        passed++;
}

static void replay_target(const struct fuzz_row *row, const char *folder) {
    char path[4096];
    struct dirent **list = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, row->name);
    int count = scandir(path, &list, NULL, alphasort), before = passed + failed;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", folder, row->name, list[i]->d_name);
        if (list[i]->d_name[0] != '.')
            replay_file(row->run, path);
        free(list[i]);
    }
    free(list);
    if (passed + failed == before)
        complain(row->name, "has no saved input");
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: replay FOLDER\n");
        return 2;
    }
    json_setup();
    for (const struct fuzz_row *row = fuzz_targets; row->name; row++)
        replay_target(row, arguments[1]);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
