/* rules_pack.h - the settings that decide what is written (write_rules.h), as bytes: the head of
 * each letter in the mailbox. */
#pragma once

#include "job/write_rules.h"
#include "store/sqlite/db/pack.h"
#include <stdint.h>

/* A number of the members and their order: see codec_layout. */
uint32_t rules_layout(void);

void rules_pack(struct packer *to, const struct write_rules *rules);

/* The texts lie in the bytes. False: these are no rules, or there is no memory. rules_clear in any
 * case. */
bool rules_open(struct opener *from, struct write_rules *rules);
void rules_clear(struct write_rules *rules);
