/* encoding.h - a file of XML in another encoding becomes UTF-8, by the C library's iconv. */
#pragma once

#include "base/text.h"

enum encoding_answer {
    ENCODING_KNOWN, /* expat reads the text as it is */
    ENCODING_TURNED,
    ENCODING_REFUSED,
};

/* Puts the text into `out` as UTF-8 if its declaration names an encoding that expat does not have;
 * the caller clears `out`. REFUSED: iconv does not know the name, or the bytes are no text in it;
 * `refusal` says which and *at is the offset of the byte. A mark of the byte order goes before
 * what the declaration says. */
enum encoding_answer encoding_turn(const char *text, size_t size, struct text *out, char *refusal,
                                   size_t room, size_t *at);
