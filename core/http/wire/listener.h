/* listener.h - a socket that takes connections: "127.0.0.1:8080", "[::1]:8080", "unix:PATH", or one
 * that systemd hands over. */
#pragma once

#include "base/error.h"
#include "http/wire/exchange.h"

enum { LISTENER_NAME = 160 };

struct listener {
    int file;
    bool unix_socket;
    bool near;                /* nobody reaches it but programs of this machine */
    char name[LISTENER_NAME]; /* its address, with the port that the kernel gave for 0 */
    dev_t device;             /* of the path of a unix socket that was made here, else 0 */
    ino_t inode;
};

/* Opens it, with the mode 0600 if it is a path. A path of a socket on which no process listens is
 * taken over. False: error. */
bool listener_open(struct listener *listener, const char *address, struct error *error);
/* A socket that is open already. */
bool listener_adopt(struct listener *listener, int file, struct error *error);
/* Closes it; removes the path that was made. */
void listener_close(struct listener *listener);

/* Takes a connection; its descriptor does not block. -1: errno says why. */
int listener_accept(const struct listener *listener, struct socket_peer *peer);

/* How many sockets systemd hands over to this process, from descriptor 3 on. */
int listener_handed_over(void);
/* They are taken: later faces and programs that handlers begin get none of them. */
void listener_hand_on_none(void);
