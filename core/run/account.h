/* account.h - what a foreman, its workers and its queue do at this moment, in the log
 * (rules §15: USR2). */
#ifndef MOONSHIFT_RUN_ACCOUNT_H
#define MOONSHIFT_RUN_ACCOUNT_H

#include "run/foreman_state.h"

void account_log(struct foreman *foreman);

#endif
