#include "base/embedded.h"
#include <string.h>

const struct embedded *embedded_find(const char *path) {
    for (const struct embedded *file = embedded_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}
