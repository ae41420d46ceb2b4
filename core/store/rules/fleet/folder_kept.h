/* folder_kept.h - rows that are kept of a deployment's folder. */
#pragma once

#include "store/rules/ground/state.h"

/* The deployment goes, and what is kept of its folder. */
bool folder_kept_forget(struct store *store, int64_t deployment, struct error *error);
