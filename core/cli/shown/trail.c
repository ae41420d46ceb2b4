#include "cli/shown/trail.h"
#include "base/json.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 60 }; /* bytes of a value that are shown */

/* The members of an event: its letter, the token or scope, and what it is of. */
enum { EVENT_LETTER, EVENT_TOKEN, EVENT_NAME, EVENT_VALUE, EVENT_BECOMES };

static char letter_of(const json_t *event) {
    const char *letter = json_string_value(json_array_get(event, EVENT_LETTER));
    return letter ? letter[0] : '\0';
}

static const char *name_of(const json_t *event) {
    const char *name = json_string_value(json_array_get(event, EVENT_NAME));
    return name ? name : "";
}

static bool is_of(const json_t *event, char letter, const json_t *other) {
    return letter_of(event) == letter && strcmp(name_of(event), name_of(other)) == 0 &&
           json_equal(json_array_get(event, EVENT_TOKEN), json_array_get(other, EVENT_TOKEN));
}

/* True if what begins at `from` ends in the same row. */
static bool ends_later(const json_t *events, size_t from) {
    const json_t *began = json_array_get(events, from);
    for (size_t i = from + 1; i < json_array_size(events); i++)
        if (is_of(json_array_get(events, i), 'e', began))
            return true;
    return false;
}

/* True if what ends at `upto` has begun in the same row. */
static bool began_before(const json_t *events, size_t upto) {
    const json_t *ended = json_array_get(events, upto);
    for (size_t i = upto; i-- > 0;)
        if (is_of(json_array_get(events, i), 's', ended))
            return true;
    return false;
}

static void add_value(struct text *text, const json_t *event) {
    char *value = json_write(json_array_get(event, EVENT_VALUE), NULL);
    size_t size = value ? strlen(value) : 0;
    bool cut = size > VALUE_MAX;
    size_t shown = cut ? VALUE_MAX : size;
    while (cut && shown > 0 && ((unsigned char)value[shown] & 0xc0) == 0x80)
        shown--;
    text_add(text, "%s = %.*s%s", name_of(event), (int)shown, value ? value : "", cut ? "…" : "");
    free(value);
}

static void add_event(struct text *text, const json_t *events, size_t i) {
    const json_t *event = json_array_get(events, i);
    char letter = letter_of(event);
    if (letter == 'f' || (letter == 'e' && began_before(events, i)))
        return;
    text_add(text, "%s", text->data && text->data[0] ? ", " : "");
    if (letter == 's')
        text_add(text, "%s%s", name_of(event), ends_later(events, i) ? "" : " begins");
    else if (letter == 'e')
        text_add(text, "%s ends", name_of(event));
    else if (letter == 'c')
        text_add(text, "%s is cancelled", name_of(event));
    else if (letter == 'v')
        add_value(text, event);
    else if (letter == 'l')
        text_add(text, "%s = (%lld bytes)", name_of(event),
                 (long long)json_integer_value(json_array_get(event, EVENT_VALUE)));
    else if (letter == 'n')
        text_add(text, "nothing to do at %s", name_of(event));
    else if (letter == 'm')
        text_add(text, "%s becomes %s", name_of(event),
                 json_string_value(json_array_get(event, EVENT_BECOMES)));
    else if (letter == 'w')
        text_add(text, "warning: %s", name_of(event));
    else
        text_add(text, "%c", letter);
}

bool trail_describe(json_t *rows, struct error *error) {
    json_t *row;
    size_t i;
    bool done = true;
    json_array_foreach(rows, i, row) {
        const json_t *events = json_object_get(row, "events");
        struct text text = {0};
        for (size_t n = 0; n < json_array_size(events); n++)
            add_event(&text, events, n);
        done = done && !text.failed && json_put_text(row, "what", text.data ? text.data : "");
        text_clear(&text);
    }
    return done || error_no_memory(error);
}
