#include "http/wire/listener.h"
#include "http/wire/socket_address.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 512, FIRST_HANDED_OVER = 3 };

static bool fail(const char *address, struct error *error) {
    return error_set(error, ERROR_IO, "http \"%.150s\": %s", address, strerror(errno));
}

/* ---- names ---- */

static void name_write(struct listener *listener, const union socket_address *address) {
    char host[64];
    socket_address_host(address, host, sizeof host);
    if (address->any.sa_family == AF_INET)
        snprintf(listener->name, LISTENER_NAME, "%s:%d", host, ntohs(address->four.sin_port));
    else if (address->any.sa_family == AF_INET6)
        snprintf(listener->name, LISTENER_NAME, "[%s]:%d", host, ntohs(address->six.sin6_port));
    else
        snprintf(listener->name, LISTENER_NAME, "unix:%s", address->path.sun_path);
}

/* What the kernel says of it, once it is bound. */
static bool describe(struct listener *listener) {
    union socket_address address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(listener->file, &address.any, &size) != 0)
        return false;
    listener->unix_socket = address.any.sa_family == AF_UNIX;
    listener->near = socket_address_is_near(&address);
    name_write(listener, &address);
    return true;
}

/* ---- opening ---- */

/* A path that is left over from a process that has ended. */
static bool is_left_over(const union socket_address *address, socklen_t size) {
    struct stat info;
    if (lstat(address->path.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = probe >= 0 && connect(probe, &address->any, size) != 0 && errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return refused;
}

/* The kernel takes the mode of the path from the socket, so nobody else ever can connect. */
static bool bind_path(struct listener *listener, const union socket_address *address,
                      socklen_t size) {
    struct stat info;
    const char *path = address->path.sun_path;
    if (is_left_over(address, size))
        unlink(path);
    if (fchmod(listener->file, 0600) != 0 || bind(listener->file, &address->any, size) != 0 ||
        lstat(path, &info) != 0)
        return false;
    listener->device = info.st_dev;
    listener->inode = info.st_ino;
    return true;
}

static bool bind_network(struct listener *listener, const union socket_address *address,
                         socklen_t size) {
    int yes = 1;
    setsockopt(listener->file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->any.sa_family == AF_INET6)
        setsockopt(listener->file, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    return bind(listener->file, &address->any, size) == 0;
}

bool listener_open(struct listener *listener, const char *text, struct error *error) {
    union socket_address address;
    socklen_t size = 0;
    *listener = (struct listener){.file = -1};
    if (!socket_address_read(text, &address, &size, error))
        return false;
    listener->file = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool path = address.any.sa_family == AF_UNIX;
    bool bound = listener->file >= 0 && (path ? bind_path(listener, &address, size)
                                              : bind_network(listener, &address, size));
    if (bound && listen(listener->file, BACKLOG) == 0 && describe(listener))
        return true;
    fail(text, error);
    listener_close(listener);
    return false;
}

bool listener_adopt(struct listener *listener, int file, struct error *error) {
    int listens = 0;
    socklen_t size = sizeof listens;
    *listener = (struct listener){.file = file};
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
        fcntl(file, F_SETFD, FD_CLOEXEC) == 0 && fcntl(file, F_SETFL, O_NONBLOCK) == 0 &&
        describe(listener))
        return true;
    return error_set(error, ERROR_CONFIG,
                     "LISTEN_FDS: descriptor %d is no socket that listens (expected a stream)",
                     file);
}

void listener_close(struct listener *listener) {
    struct stat info;
    const char *path = listener->name + strlen("unix:");
    if (listener->inode && lstat(path, &info) == 0 && info.st_ino == listener->inode &&
        info.st_dev == listener->device)
        unlink(path);
    if (listener->file >= 0)
        close(listener->file);
    listener->file = -1;
    listener->inode = 0;
}

int listener_handed_over(void) {
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    long number = count ? strtol(count, NULL, 10) : 0;
    bool ours = process && strtol(process, NULL, 10) == (long)getpid();
    return ours && number > 0 && number < 64 ? (int)number : 0;
}

void listener_hand_on_none(void) {
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
}

/* ---- connections ---- */

static void peer_of_path(int file, struct socket_peer *peer) {
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t size = sizeof who;
    getsockopt(file, SOL_SOCKET, SO_PEERCRED, &who, &size);
    peer->local = peer->near = true;
    peer->user = who.uid;
    strcpy(peer->address, "unix");
    strcpy(peer->here, "localhost");
}

static void peer_of_network(int file, const union socket_address *address,
                            struct socket_peer *peer) {
    union socket_address here;
    int yes = 1;
    socklen_t size = sizeof here;
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    socket_address_host(address, peer->address, sizeof peer->address);
    peer->near = socket_address_is_near(address);
    if (getsockname(file, &here.any, &size) == 0)
        socket_address_host(&here, peer->here, sizeof peer->here);
}

int listener_accept(const struct listener *listener, struct socket_peer *peer) {
    union socket_address address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    *peer = (struct socket_peer){.user = (uid_t)-1};
    int file = accept4(listener->file, &address.any, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0)
        return -1;
    if (listener->unix_socket)
        peer_of_path(file, peer);
    else
        peer_of_network(file, &address, peer);
    return file;
}
