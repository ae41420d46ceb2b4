#include "cli/fault.h"
#include "base/error.h"
#include <signal.h>
#include <unistd.h>

/* Only what may be called in a signal handler. */
static void fault_end(int number, siginfo_t *info, void *context) {
    static const char text[] = "moonshift: a file of the store was cut short while in use\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        signal(number, SIG_DFL); /* the same again, and then its death */
        return;
    }
    ssize_t heard = write(STDERR_FILENO, text, sizeof text - 1);
    (void)heard; /* the status tells it as well */
    _exit(error_exit_status(ERROR_IO));
}

void fault_setup(void) {
    struct sigaction action = {.sa_sigaction = fault_end, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
}
