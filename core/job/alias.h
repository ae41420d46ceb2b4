/* alias.h - what Camunda 7, Flowable and Activiti call the settings (rules §19), for those who come
 * from there. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* The setting that does here what `foreign` does there. Case and punctuation do not count, nor do
 * the words before a dot, or a prefix such as asyncExecutor. "": none is needed here.
 * NULL: no setting has that name. */
const char *alias_setting(const char *foreign);

/* What does here what `foreign` does there, where that is no setting: words for people, or NULL. */
const char *alias_hint(const char *foreign);

/* The foreign names of a setting, an array of texts. A new reference; NULL: no memory. */
json_t *alias_names(const char *setting);
