#include "http/wire/client.h"
#include "http/wire/socket_address.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 10 /* seconds */, ANSWER_MAX = 65536 };

static int reach(const char *address, struct error *error) {
    union socket_address place;
    socklen_t size = 0;
    struct timeval patience = {.tv_sec = PATIENCE};
    if (!socket_address_read(address, &place, &size, error))
        return -1;
    int file = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        connect(file, &place.any, size) != 0) {
        error_set(error, ERROR_UNAVAILABLE, "http \"%.150s\": %s", address, strerror(errno));
        if (file >= 0)
            close(file);
        return -1;
    }
    return file;
}

/* Up to the end of the connection. */
static bool talk(int file, const char *path, struct text *answer) {
    char piece[4096];
    int size = snprintf(piece, sizeof piece,
                        "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (send(file, piece, (size_t)size, MSG_NOSIGNAL) != size)
        return false;
    for (ssize_t got; (got = recv(file, piece, sizeof piece, 0)) != 0;) {
        if (got < 0 || answer->size > ANSWER_MAX)
            return false;
        text_append(answer, piece, (size_t)got);
    }
    return !answer->failed;
}

int client_get(const char *address, const char *path, struct text *content, struct error *error) {
    struct text answer = {0};
    int file = reach(address, error), status = 0;
    if (file < 0)
        return 0;
    bool heard = talk(file, path, &answer);
    const char *body = answer.data ? strstr(answer.data, "\r\n\r\n") : NULL;
    if (heard && body && strncmp(answer.data, "HTTP/1.1 ", 9) == 0)
        status = atoi(answer.data + 9);
    if (status)
        text_add(content, "%s", body + 4);
    else
        error_set(error, ERROR_UNAVAILABLE, "http \"%.150s\": no answer", address);
    text_clear(&answer);
    close(file);
    return status;
}
