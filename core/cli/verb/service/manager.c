#include "cli/verb/service/manager.h"
#include "base/clock.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or a name in the abstract namespace behind "@". 0: there is no such address. */
static socklen_t address_of(struct sockaddr_un *address) {
    const char *name = getenv("NOTIFY_SOCKET");
    size_t size = name ? strlen(name) : 0;
    if (size < 2 || size >= sizeof address->sun_path || (*name != '/' && *name != '@'))
        return 0;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, size);
    if (*name == '@')
        address->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
}

/* A manager that does not read keeps nobody waiting. */
static void tell(const char *text) {
    struct sockaddr_un address;
    socklen_t size = address_of(&address);
    int file = size ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (file < 0)
        return;
    ssize_t sent =
        sendto(file, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    (void)sent;
    close(file);
}

bool manager_listens(void) {
    struct sockaddr_un address;
    return address_of(&address) > 0;
}

bool manager_watches(void) {
    const char *pid = getenv("WATCHDOG_PID");
    return manager_listens() && getenv("WATCHDOG_USEC") && (!pid || atoll(pid) == getpid());
}

void manager_ready(void) {
    tell("READY=1");
}

void manager_reloading(void) {
    char text[80];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, clock_monotonic_us());
    tell(text);
}

void manager_stopping(void) {
    tell("STOPPING=1");
}

void manager_alive(void) {
    if (manager_watches())
        tell("WATCHDOG=1");
}
