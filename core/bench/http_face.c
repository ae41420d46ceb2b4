#include "bench/http_face.h"
#include "base/json.h"
#include "base/log.h"
#include "http/face.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_EVERY = 2000, ROOM = 1 << 20 }; /* microseconds; bytes of an answer */

/* Memory that both processes share. */
struct http_face {
    pid_t pid;
    char path[PATH_MAX];
    _Atomic bool listens, stop;
    int64_t syncs;
    struct error error;
};

/* ---- its process ---- */

static bool serve(const struct rig *rig, struct http_face *shared) {
    char address[PATH_MAX + 8];
    struct settings settings = rig->settings;
    snprintf(address, sizeof address, "unix:%s", shared->path);
    settings.http = json_pack("[s]", address);
    log_configure(LOG_LOGFMT, LOG_ERROR); /* that it is open is as it is meant */
    const struct face_options options = {
        .settings = &settings, .clock = clock_system(), .folder = rig->folder, .open = true};
    const struct meter from = meter_read();
    struct face *face = settings.http ? face_new(&options, &shared->error) : NULL;
    atomic_store(&shared->listens, face != NULL);
    while (face && !atomic_load(&shared->stop))
        rig_pause(LOOK_EVERY);
    const struct meter used = meter_since(&from);
    shared->syncs = used.writes.syncs;
    face_free(face);
    json_decref(settings.http);
    return face != NULL;
}

static bool await_listening(struct http_face *face, struct error *error) {
    while (!atomic_load(&face->listens) && place_goes_on(error)) {
        if (waitpid(face->pid, NULL, WNOHANG) == face->pid) {
            face->pid = 0;
            return error_set(error, ERROR_FAILED, "no face: %s", face->error.text);
        }
        rig_pause(LOOK_EVERY);
    }
    return place_goes_on(error);
}

struct http_face *http_face_begin(const struct rig *rig, struct error *error) {
    struct http_face *face =
        mmap(NULL, sizeof *face, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (face == MAP_FAILED)
        return error_null(error_no_memory(error));
    place_file(&rig->bench->place, "http", face->path);
    const pid_t pid = fork();
    if (pid == 0) {
        place_leave_signals();
        _exit(serve(rig, face) ? 0 : 1);
    }
    face->pid = pid;
    if (face->pid > 0 && await_listening(face, error))
        return face;
    if (face->pid < 0)
        error_set(error, ERROR_FAILED, "the system gives no process for a face: %s",
                  strerror(errno));
    http_face_end(face, NULL, NULL);
    return NULL;
}

bool http_face_end(struct http_face *face, int64_t *syncs, struct error *error) {
    int status = 0;
    if (!face)
        return true;
    atomic_store(&face->stop, true);
    while (face->pid > 0 && waitpid(face->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (syncs)
        *syncs = face->syncs;
    munmap(face, sizeof *face);
    return status == 0 || error_set(error, ERROR_FAILED, "the face has ended before its time");
}

/* ---- a connection ---- */

static bool lost(struct error *error) {
    return error_set(error, ERROR_IO, "the face answers no more: %s", strerror(errno));
}

bool http_client_open(struct http_client *client, const struct http_face *face,
                      struct error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *client = (struct http_client){.file = -1, .room = malloc(ROOM)};
    if (!client->room)
        return error_no_memory(error);
    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", face->path) >=
        sizeof address.sun_path)
        return error_set(error, ERROR_USAGE, "--dir: \"%s\" is too long for a socket", face->path);
    client->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return (client->file >= 0 &&
            connect(client->file, (struct sockaddr *)&address, sizeof address) == 0) ||
           lost(error);
}

void http_client_close(struct http_client *client) {
    if (client->file >= 0)
        close(client->file);
    free(client->room);
}

static bool write_all(const struct http_client *client, const char *text, size_t size,
                      struct error *error) {
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(client->file, text + at, size - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return lost(error);
        at += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

/* The bytes of the whole answer, as its head says; 0: that is not there yet. */
static size_t answer_size(const char *room, const char **body) {
    static const char field[] = "Content-Length: ";
    const char *end = strstr(room, "\r\n\r\n"), *length = strstr(room, field);
    if (!end)
        return 0;
    *body = end + 4;
    return (size_t)(*body - room) +
           (length && length < end ? strtoul(length + sizeof field - 1, NULL, 10) : 0);
}

static bool read_answer(struct http_client *client, const char **body, struct error *error) {
    size_t wanted = 0;
    client->size = 0;
    while (!wanted || client->size < wanted) {
        ssize_t got = recv(client->file, client->room + client->size, ROOM - 1 - client->size, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return lost(error);
        client->size += got > 0 ? (size_t)got : 0;
        client->room[client->size] = '\0';
        if (!wanted)
            wanted = answer_size(client->room, body);
    }
    return true;
}

const char *http_client_post(struct http_client *client, const char *path, const char *body,
                             size_t size, struct error *error) {
    char head[256];
    const char *said = NULL;
    int length = snprintf(head, sizeof head,
                          "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                          "\r\nContent-Length: %zu\r\n\r\n",
                          path, size);
    if (!write_all(client, head, (size_t)length, error) || !write_all(client, body, size, error) ||
        !read_answer(client, &said, error))
        return NULL;
    if (client->room[sizeof "HTTP/1.1 " - 1] == '2')
        return said;
    return error_null(error_set(error, ERROR_FAILED, "the face has answered %.200s", said));
}
