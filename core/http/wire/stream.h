/* stream.h - content that comes piece by piece: from the thread that writes it to the door, which
 * sends it. A reader that is slow is told of a gap instead of what it has missed.
 *
 * It has two ends. Each is given up once, and the last one frees it. */
#pragma once

#include "base/text.h"
#include <stdbool.h>

struct stream;

enum { STREAM_MOST = 256 * 1024 }; /* bytes that wait for the reader */

/* `gap`: what it is told once it has read what waits; static. NULL: no memory. */
struct stream *stream_new(const char *gap);

/* ---- the writer's end ---- */

/* Adds a piece, or leaves it out where too much waits. */
void stream_write(struct stream *stream, const char *text, size_t size);
/* Bytes that wait. */
size_t stream_behind(struct stream *stream);
/* True if the reader has gone, or no memory is left for it. */
bool stream_gone(struct stream *stream);
/* No more comes. Gives up the end; NULL is fine. */
void stream_end(struct stream *stream);

/* ---- the reader's end ---- */

/* Moves what waits into an empty text. False: nothing waits, and *ended says if no more comes. */
bool stream_take(struct stream *stream, struct text *out, bool *ended);
/* Gives up the end; NULL is fine. */
void stream_leave(struct stream *stream);
