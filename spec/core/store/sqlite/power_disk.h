/* power_disk.h - what a disk holds after a power cut: of every file what was synced, and by chance
 * some of what was written since.
 *
 * Files are real ones and have everything that was ever written ("live"). Beside each stands what
 * is safe on the disk, and the writes and cuts of length since its last sync. After a power cut
 * each of those is there, or not, or in part of its sectors, or as noise; earlier ones may have
 * taken the place of later ones. Names are safe once their directory is synced. */
#ifndef MOONSHIFT_SPEC_POWER_DISK_H
#define MOONSHIFT_SPEC_POWER_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_file;

extern volatile int disk_busy; /* not 0: what is asked for is the disk's, not the store's */

/* A growing number drawn from *state: the same seed, the same numbers. */
uint64_t chance(uint64_t *state);
/* From 0 to `of` - 1. */
int chance_of(uint64_t *state, int of);

/* Knows no file any more. */
void disk_forget(void);
/* What is there under this name counts as safe; NULL: no memory. */
struct disk_file *disk_open(const char *path, bool created);
struct disk_file *disk_find(const char *path);
void disk_write(struct disk_file *file, const void *data, size_t size, int64_t at);
void disk_truncate(struct disk_file *file, int64_t size);
void disk_sync(struct disk_file *file);
void disk_sync_directory(void);
void disk_remove(struct disk_file *file);

/* The power is back: what is left of every file goes into another, empty directory, and is safe
 * there. False: a file cannot be written. */
bool disk_survive(const char *directory, uint64_t seed);

#endif
