#include "store/sqlite/db/rules_pack.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

#define NAME(kind, type, member) #kind " " #type " " #member " "

uint32_t rules_layout(void) {
    static const char names[] = WRITE_RULES(NAME);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < sizeof names; i++)
        hash = (hash ^ (unsigned char)names[i]) * 16777619u;
    return hash;
}

/* ---- writing ---- */

static void put_text(struct packer *to, char *const *text) {
    pack_text(to, *text, *text ? strlen(*text) : 0);
}

static void put_json(struct packer *to, json_t *const *value) {
    char *text = *value ? json_write(*value, NULL) : NULL;
    to->full = to->full || (*value && !text);
    put_text(to, &text);
    free(text);
}

#define PUT(kind, type, member) PUT_##kind(member)
#define PUT_PLAIN(member) pack_bytes(to, &rules->member, sizeof rules->member);
#define PUT_TEXT(member) put_text(to, &rules->member);
#define PUT_JSON(member) put_json(to, &rules->member);

void rules_pack(struct packer *to, const struct write_rules *rules) {
    WRITE_RULES(PUT)
}

/* ---- reading ---- */

static bool get_text(struct opener *from, char **text) {
    const char *found = NULL;
    bool read = open_string(from, &found);
    *text = (char *)(uintptr_t)found;
    return read;
}

static bool get_json(struct opener *from, json_t **value) {
    char *text = NULL;
    bool read = get_text(from, &text);
    *value = read && text ? json_read(text, strlen(text), "rules", NULL) : NULL;
    return read && (!text || *value);
}

#define GET(kind, type, member) GET_##kind(member)
#define GET_PLAIN(member) read = read && open_bytes(from, &rules->member, sizeof rules->member);
#define GET_TEXT(member) read = read && get_text(from, &rules->member);
#define GET_JSON(member) read = read && get_json(from, &rules->member);

bool rules_open(struct opener *from, struct write_rules *rules) {
    bool read = true;
    *rules = (struct write_rules){0};
    WRITE_RULES(GET)
    return read;
}

#define CLEAR(kind, type, member) CLEAR_##kind(member)
#define CLEAR_PLAIN(member)
#define CLEAR_TEXT(member)
#define CLEAR_JSON(member) json_decref(rules->member);

void rules_clear(struct write_rules *rules) {
    WRITE_RULES(CLEAR)
}
