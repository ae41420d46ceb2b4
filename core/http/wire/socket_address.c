#include "http/wire/socket_address.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool socket_address_is_near(const union socket_address *address) {
    if (address->any.sa_family == AF_INET)
        return ntohl(address->four.sin_addr.s_addr) >> 24 == 127;
    return address->any.sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr);
}

void socket_address_host(const union socket_address *address, char *out, size_t room) {
    out[0] = 0;
    if (address->any.sa_family == AF_INET)
        inet_ntop(AF_INET, &address->four.sin_addr, out, (socklen_t)room);
    else if (address->any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &address->six.sin6_addr, out, (socklen_t)room);
}

static bool refuse(const char *text, struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "http \"%.150s\": expected ADDRESS:PORT, such as 127.0.0.1:8080 or "
                     "[::1]:8080, or unix:PATH",
                     text);
}

static bool read_port(const char *text, in_port_t *port) {
    size_t digits = strspn(text, "0123456789");
    long number = strtol(text, NULL, 10);
    *port = htons((uint16_t)number);
    return digits > 0 && digits <= 5 && !text[digits] && number <= 65535;
}

static bool read_network(const char *text, union socket_address *address, socklen_t *size) {
    char host[64];
    in_port_t port;
    const char *colon = strrchr(text, ':');
    bool six = text[0] == '[' && colon && colon > text + 1 && colon[-1] == ']';
    if (!colon || (size_t)(colon - text) >= sizeof host || !read_port(colon + 1, &port))
        return false;
    snprintf(host, sizeof host, "%.*s", (int)(colon - text - 2 * six), text + six);
    if (six) {
        address->six.sin6_family = AF_INET6;
        address->six.sin6_port = port;
        *size = sizeof address->six;
        return inet_pton(AF_INET6, host, &address->six.sin6_addr) == 1;
    }
    address->four.sin_family = AF_INET;
    address->four.sin_port = port;
    *size = sizeof address->four;
    return inet_pton(AF_INET, host, &address->four.sin_addr) == 1;
}

static bool read_path(const char *text, union socket_address *address, socklen_t *size,
                      struct error *error) {
    const char *path = text + strlen("unix:");
    *size = sizeof address->path;
    address->path.sun_family = AF_UNIX;
    if (!path[0])
        return refuse(text, error);
    if (strlen(path) >= sizeof address->path.sun_path)
        return error_set(error, ERROR_INVALID, "http \"%.150s\": the path is longer than %zu bytes",
                         text, sizeof address->path.sun_path - 1);
    strcpy(address->path.sun_path, path);
    return true;
}

bool socket_address_read(const char *text, union socket_address *address, socklen_t *size,
                         struct error *error) {
    memset(address, 0, sizeof *address);
    if (strncmp(text, "unix:", 5) == 0)
        return read_path(text, address, size, error);
    return read_network(text, address, size) || refuse(text, error);
}
