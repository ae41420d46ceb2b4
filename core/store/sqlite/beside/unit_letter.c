#include "store/sqlite/beside/unit_letter.h"
#include "job/unit_lists.h"
#include "store/sqlite/db/codec.h"
#include <string.h>

/* ---- the layout ---- */

static uint32_t hash_text(uint32_t hash, const char *text) {
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u; /* FNV-1a */
    return hash;
}

uint32_t unit_letter_layout(void) {
    uint32_t hash = 2166136261u ^ (uint32_t)sizeof(struct store_entry);
    for (const struct unit_list *list = unit_lists; list->key; list++) {
        hash = hash_text(hash, list->key);
        for (const struct unit_member *member = list->members; member->key; member++)
            hash = hash_text(hash, member->key) * 31 + (uint32_t)member->type;
    }
    return hash;
}

/* ---- writing ---- */

static void put_text(struct packer *to, const char *text) {
    pack_text(to, text, text ? strlen(text) : 0);
}

static void put_member(struct packer *to, const struct unit_member *member, const char *entry) {
    const char *text;
    switch (member->type) {
    case UNIT_NUMBER:
    case UNIT_TIME:
        pack_bytes(to, entry + member->at, sizeof(int64_t));
        return;
    case UNIT_WAITS:
        pack_bytes(to, entry + member->at, sizeof(unsigned));
        return;
    case UNIT_TEXT:
    case UNIT_JSON:
        memcpy(&text, entry + member->at, sizeof text);
        put_text(to, text);
        return;
    }
}

static void put_list(struct packer *to, const struct unit *unit, const struct unit_list *list) {
    const char *entries;
    size_t count;
    memcpy(&entries, (const char *)unit + list->at, sizeof entries);
    memcpy(&count, (const char *)unit + list->count_at, sizeof count);
    pack_bytes(to, &count, sizeof count);
    for (size_t i = 0; i < count; i++)
        for (const struct unit_member *member = list->members; member->key; member++)
            put_member(to, member, entries + i * list->size);
}

static void put_created(struct packer *to, const struct outcome *outcome) {
    size_t count = 0;
    for (const struct job_spec *spec = outcome->created; spec; spec = spec->next)
        count++;
    pack_bytes(to, &count, sizeof count);
    for (const struct job_spec *spec = outcome->created; spec; spec = spec->next) {
        pack_bytes(to, &spec->told, sizeof spec->told);
        codec_pack(to, spec);
    }
}

static void put_entry(struct packer *to, const struct store_entry *entry) {
    put_text(to, entry->verb);
    put_text(to, entry->entity);
    put_text(to, entry->before);
    put_text(to, entry->after);
    pack_bytes(to, &entry->instance, sizeof entry->instance);
    pack_bytes(to, entry->holds, sizeof entry->holds);
}

void unit_letter_pack(struct packer *to, const struct outcome *outcome,
                      const struct store_entry *entry) {
    put_entry(to, entry);
    for (const struct unit_list *list = unit_lists; list->key; list++)
        put_list(to, outcome->unit, list);
    put_created(to, outcome);
}

/* ---- reading ---- */

static bool get_member(struct opener *from, const struct unit_member *member, char *entry) {
    const char *text;
    switch (member->type) {
    case UNIT_NUMBER:
    case UNIT_TIME:
        return open_bytes(from, entry + member->at, sizeof(int64_t));
    case UNIT_WAITS:
        return open_bytes(from, entry + member->at, sizeof(unsigned));
    case UNIT_TEXT:
    case UNIT_JSON:
        if (!open_string(from, &text))
            return false;
        memcpy(entry + member->at, &text, sizeof text);
        return true;
    }
    return false;
}

/* The count of a list: each entry has a byte at least. */
static bool get_count(struct opener *from, size_t *count) {
    return open_bytes(from, count, sizeof *count) && *count <= from->left;
}

static bool get_list(struct opener *from, struct unit *unit, const struct unit_list *list) {
    size_t count = 0;
    char *entries = get_count(from, &count) ? unit_room(unit, count, list->size) : NULL;
    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        for (const struct unit_member *member = list->members; member->key; member++)
            if (!get_member(from, member, entries + i * list->size))
                return false;
    memcpy((char *)unit + list->at, &entries, sizeof entries);
    memcpy((char *)unit + list->count_at, &count, sizeof count);
    return true;
}

static bool get_created(struct opener *from, struct outcome *outcome) {
    size_t count = 0;
    struct job_spec *specs =
        get_count(from, &count) ? unit_room(outcome->unit, count, sizeof *specs) : NULL;
    for (size_t i = 0; specs && i < count; i++) {
        bool told;
        if (!open_bytes(from, &told, sizeof told) || !codec_open(from, &specs[i]))
            return false;
        specs[i].told = told;
        specs[i].next = i + 1 < count ? &specs[i + 1] : NULL;
    }
    outcome->created = count ? specs : NULL;
    return specs;
}

static bool get_entry(struct opener *from, struct store_entry *entry) {
    return open_string(from, &entry->verb) && open_string(from, &entry->entity) &&
           open_string(from, &entry->before) && open_string(from, &entry->after) &&
           open_bytes(from, &entry->instance, sizeof entry->instance) &&
           open_bytes(from, entry->holds, sizeof entry->holds);
}

bool unit_letter_open(struct opener *from, struct unit_letter *letter) {
    *letter = (struct unit_letter){.job = {.due = TIME_NONE, .lock_expiration = TIME_NONE},
                                   .outcome = {.kind = OUTCOME_SUCCESS, .unit = unit_new()}};
    letter->outcome.job = &letter->job;
    bool read = letter->outcome.unit && get_entry(from, &letter->entry);
    for (const struct unit_list *list = unit_lists; read && list->key; list++)
        read = get_list(from, letter->outcome.unit, list);
    return read && get_created(from, &letter->outcome) && from->left == 0;
}

void unit_letter_clear(struct unit_letter *letter) {
    job_free(letter->outcome.newer);
    unit_free(letter->outcome.unit);
    letter->outcome.newer = NULL;
    letter->outcome.unit = NULL;
}
