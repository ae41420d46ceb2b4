#include "store/sqlite/beside/bell.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int bell_socket(void) {
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int bell_directory(const char *path) {
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, sizeof name, "%.*s", (int)(slash - path) + 1, path);
    return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A socket's name has 107 bytes at most: it is spelled through the open directory. */
static bool bell_address(struct bell *bell, const char *path, int64_t id,
                         struct sockaddr_un *address) {
    const char *slash = strrchr(path, '/');
    if (bell->directory < 0)
        bell->directory = bell_directory(path);
    if (bell->directory < 0)
        return false;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int size =
        snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s-bell-%lld",
                 bell->directory, slash ? slash + 1 : path, (long long)id);
    return size > 0 && (size_t)size < sizeof address->sun_path;
}

void bell_make(struct bell *bell, const char *path, int64_t id) {
    struct sockaddr_un address;
    if (!bell_address(bell, path, id, &address))
        return;
    bell->socket = bell_socket();
    if (bell->socket < 0)
        return;
    unlink(address.sun_path);
    if (bind(bell->socket, (struct sockaddr *)&address, sizeof address) == 0)
        return;
    close(bell->socket);
    bell->socket = -1;
}

bool bell_empty(const struct bell *bell) {
    char bytes[16];
    bool rang = false;
    while (bell->socket >= 0 && recv(bell->socket, bytes, sizeof bytes, MSG_DONTWAIT) >= 0)
        rang = true;
    return rang;
}

/* A full bell is ringing already, a missing one rings nobody: the result does not matter. The name
 * is opened first, and the socket reached through that: so no link is followed. */
void bell_ring(struct bell *bell, const char *path, int64_t id) {
    struct sockaddr_un address;
    if (!bell_address(bell, path, id, &address))
        return;
    int file = open(address.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", file);
    if (bell->sender < 0)
        bell->sender = bell_socket();
    if (bell->sender >= 0)
        sendto(bell->sender, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address,
               sizeof address);
    close(file);
}

void bell_close(struct bell *bell) {
    int files[] = {bell->socket, bell->directory, bell->sender};
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    *bell = (struct bell){-1, -1, -1};
}

void bell_remove(const char *path, int64_t id) {
    char name[PATH_MAX];
    if ((size_t)snprintf(name, sizeof name, "%s-bell-%lld", path, (long long)id) < sizeof name)
        unlink(name);
}
