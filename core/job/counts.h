/* counts.h - a setting of whole numbers by name: { ["set-job-retries"] = 10 }, as a flag
 * "set-job-retries=10,enqueue=5". */
#pragma once

#include "base/text.h"
#include <jansson.h>
#include <stdint.h>

/* *field becomes a copy, NULL where there are none. False: it is something else, or a number is out
 * of bounds; or memory is out. */
bool counts_set(json_t **field, const json_t *value, int64_t low, int64_t high);

/* What a text stands for; one that says something else stays a text. NULL: no memory. */
json_t *counts_from_text(const char *text);

/* Texts by name, of a text such as "enqueue=P7D,suspend=off"; one that says something else stays a
 * text. NULL: no memory. */
json_t *names_with_texts(const char *text);
void names_write(struct text *out, const json_t *texts);

/* A list of texts, as a flag takes it: "red,green". NULL: no memory. */
json_t *names_from_text(const char *text);

/* As a flag takes it. */
void counts_write(struct text *out, const json_t *counts);
