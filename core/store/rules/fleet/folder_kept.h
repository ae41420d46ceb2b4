/* folder_kept.h - rows that are kept of a deployment's folder. */
#ifndef MOONSHIFT_STORE_RULES_FLEET_FOLDER_KEPT_H
#define MOONSHIFT_STORE_RULES_FLEET_FOLDER_KEPT_H

#include "store/rules/ground/state.h"

/* The deployment goes, and what is kept of its folder. */
bool folder_kept_forget(struct store *store, int64_t deployment, struct error *error);

#endif
