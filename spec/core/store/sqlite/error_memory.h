/* error_memory.h - SQLite's memory and our own, which can run out at one request. */
#ifndef MOONSHIFT_SPEC_ERROR_MEMORY_H
#define MOONSHIFT_SPEC_ERROR_MEMORY_H

#include <stdbool.h>

/* Before SQLite is used. */
bool memory_install(void);
/* The nth request (from 1) is refused; `lasting`: and all after it. 0: none. */
void memory_fails(int nth, bool lasting);
int memory_failures(void);

#endif
