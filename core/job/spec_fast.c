#include "job/spec_fast.h"
#include "base/json.h"
#include <string.h>

enum { KEY_MAX = 32 }; /* bytes of a key; no known one is longer */

#define ENTRY(member, type, key, source, column, said, ...)                                        \
    JOB_SAID_##said(&job_fields[JOB_FIELD_##member], )
const struct job_field *const spec_names[SPEC_NAMES] = {JOB_FIELDS(ENTRY)};

/* ---- names, payload, priority ---- */

/* A text that is not empty, NUL-terminated. */
static bool read_name(struct json_copier *copier, const char **name, size_t *size) {
    struct json_piece piece;
    if (*name || json_scan_next(&copier->scan) != '"' || !json_scan_text(&copier->scan, &piece))
        return false;
    if (!json_unescape(&piece, copier->out, size) || *size == 0)
        return false;
    *name = copier->out;
    copier->out += *size;
    *copier->out++ = '\0';
    return true;
}

static bool read_payload(struct spec_fast *fast, struct json_copier *copier) {
    if (fast->payload)
        return false;
    fast->payload = copier->out;
    if (!json_copy_value(copier, 1))
        return false;
    fast->payload_size = (size_t)(copier->out - fast->payload);
    return true;
}

static bool read_priority(struct spec_fast *fast, struct json_scan *scan) {
    struct json_number number;
    if (fast->priority_given || !json_scan_next(scan) || !json_scan_number(scan, &number))
        return false;
    fast->priority_given = true;
    fast->priority = number.whole;
    return !number.is_real;
}

/* ---- other keys ---- */

static json_t *text_value(struct json_copier *copier) {
    struct json_piece piece;
    size_t size;
    if (!json_scan_text(&copier->scan, &piece) || !json_unescape(&piece, copier->out, &size))
        return NULL;
    return json_stringn_nocheck(copier->out, size);
}

static json_t *number_value(struct json_scan *scan) {
    struct json_number number;
    if (!json_scan_number(scan, &number))
        return NULL;
    return number.is_real ? json_real(number.real) : json_integer(number.whole);
}

static json_t *word_value(struct json_scan *scan) {
    if (json_scan_word(scan, "true", 4))
        return json_true();
    if (json_scan_word(scan, "false", 5))
        return json_false();
    return json_scan_word(scan, "null", 4) ? json_null() : NULL;
}

/* Arrays and objects are left to jansson. */
static json_t *scalar_value(struct json_copier *copier) {
    char byte = json_scan_next(&copier->scan);
    if (byte == '"')
        return text_value(copier);
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return number_value(&copier->scan);
    return word_value(&copier->scan);
}

bool spec_fast_add(struct spec_fast *fast, const char *key, json_t *value) {
    bool own = strcmp(key, "handler") == 0 || strcmp(key, "payload") == 0;
    bool fine = value && !own && !json_is_array(value) && !json_is_object(value);
    if (fine && !fast->rest)
        fast->rest = json_object();
    if (fine && fast->rest && !json_object_get(fast->rest, key))
        return json_object_set_new_nocheck(fast->rest, key, value) == 0;
    json_decref(value);
    return false;
}

/* ---- a job ---- */

static bool read_value(struct spec_fast *fast, struct json_copier *copier, const char *key) {
    if (strcmp(key, "payload") == 0)
        return read_payload(fast, copier);
    if (strcmp(key, "priority") == 0)
        return read_priority(fast, &copier->scan);
    for (int i = 0; i < SPEC_NAMES; i++)
        if (strcmp(key, spec_names[i]->key) == 0)
            return read_name(copier, &fast->names[i], &fast->sizes[i]);
    return spec_fast_add(fast, key, scalar_value(copier));
}

static bool read_member(struct spec_fast *fast, struct json_copier *copier) {
    char key[KEY_MAX];
    struct json_piece piece;
    if (json_scan_next(&copier->scan) != '"' || !json_scan_text(&copier->scan, &piece))
        return false;
    if (piece.escaped || piece.size >= sizeof key)
        return false;
    memcpy(key, piece.text, piece.size);
    key[piece.size] = '\0';
    return json_scan_take(&copier->scan, ':') && read_value(fast, copier, key);
}

static bool read_job(struct spec_fast *fast, struct json_copier *copier) {
    if (!json_scan_take(&copier->scan, '{'))
        return false;
    do {
        if (!read_member(fast, copier))
            return false;
    } while (json_scan_take(&copier->scan, ','));
    return json_scan_take(&copier->scan, '}') && json_scan_done(&copier->scan) &&
           fast->names[SPEC_NAME_handler];
}

bool spec_fast_read(struct spec_fast *fast, const char *text, size_t size, char *room,
                    size_t *used) {
    struct json_copier copier = {.scan = {text, text + size}, .out = room};
    *fast = (struct spec_fast){0};
    bool read = read_job(fast, &copier);
    *used = (size_t)(copier.out - room);
    json_copier_clear(&copier);
    return read;
}

void spec_fast_clear(struct spec_fast *fast) {
    json_decref(fast->rest);
    fast->rest = NULL;
}
