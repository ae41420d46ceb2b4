/* first_process.h - the program as the first process of a container. */
#pragma once

/* Returns at once unless the program is process 1. There it goes on in a child. This process stays
 * and waits for all that end, hands signals on to the child, and ends with its status: 128 + N
 * where a signal N ended it. Call it before any thread is made. */
void first_process_stay(void);
