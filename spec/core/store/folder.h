/* folder.h - a contract's own folder of files. */
#ifndef MOONSHIFT_SPEC_FOLDER_H
#define MOONSHIFT_SPEC_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

/* Removes the files in it, but none that begins with a dot. */
static inline void folder_empty(const char *directory) {
    char path[512];
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (list)
        closedir(list);
}

/* Removes the folder with those files. */
static inline void folder_remove(const char *directory) {
    folder_empty(directory);
    rmdir(directory);
}

#endif
