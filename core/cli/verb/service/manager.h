/* manager.h - tells the service manager that started the program how it is, over the socket that
 * NOTIFY_SOCKET names (man 3 sd_notify). Without one nothing is done. */
#pragma once

#include <stdbool.h>

/* True if there is one. */
bool manager_listens(void);
/* True if it ends a program that is silent (WATCHDOG_USEC, of this process). */
bool manager_watches(void);

void manager_ready(void);     /* it works, or has read its files again */
void manager_reloading(void); /* it reads its files again; manager_ready follows */
void manager_stopping(void);
void manager_alive(void); /* where it watches */
