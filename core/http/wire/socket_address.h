/* socket_address.h - where the network face listens, and is asked: "127.0.0.1:8080", "[::1]:8080",
 * "unix:PATH". */
#pragma once

#include "base/error.h"
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

union socket_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
};

/* *size: what bind and connect want to know. False: error. */
bool socket_address_read(const char *text, union socket_address *address, socklen_t *size,
                         struct error *error);

/* True if only programs of this machine reach it. */
bool socket_address_is_near(const union socket_address *address);
/* Writes the host without its port; "" for a path. */
void socket_address_host(const union socket_address *address, char *out, size_t room);
