/* account.h - writes into the log what a runner, its workers and its queue do at this moment
 * (rules §15: USR2). */
#pragma once

#include "run/runner_state.h"

void account_log(struct runner *runner);
