#include "http/wire/stream.h"
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

struct stream {
    struct mutex mutex;
    struct text waits;
    const char *gap;
    bool missed; /* a piece was left out since the reader was last told so */
    bool ended, left;
};

struct stream *stream_new(const char *gap) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    mutex_init(&stream->mutex);
    stream->gap = gap;
    return stream;
}

static void give_up(struct stream *stream, bool *end) {
    mutex_lock(&stream->mutex);
    *end = true;
    const bool last = stream->ended && stream->left;
    mutex_unlock(&stream->mutex);
    if (!last)
        return;
    text_clear(&stream->waits);
    mutex_free(&stream->mutex);
    free(stream);
}

void stream_write(struct stream *stream, const char *text, size_t size) {
    mutex_lock(&stream->mutex);
    stream->missed =
        stream->missed || (stream->waits.size > 0 && stream->waits.size + size > STREAM_MOST);
    if (!stream->missed && !stream->left)
        text_append(&stream->waits, text, size);
    mutex_unlock(&stream->mutex);
}

bool stream_gone(struct stream *stream) {
    mutex_lock(&stream->mutex);
    const bool gone = stream->left || stream->waits.failed;
    mutex_unlock(&stream->mutex);
    return gone;
}

size_t stream_behind(struct stream *stream) {
    mutex_lock(&stream->mutex);
    const size_t size = stream->waits.size;
    mutex_unlock(&stream->mutex);
    return size;
}

void stream_end(struct stream *stream) {
    if (stream)
        give_up(stream, &stream->ended);
}

bool stream_take(struct stream *stream, struct text *out, bool *ended) {
    mutex_lock(&stream->mutex);
    if (!stream->waits.size && stream->missed) {
        stream->missed = false;
        text_append(&stream->waits, stream->gap, strlen(stream->gap));
    }
    *out = stream->waits;
    stream->waits = (struct text){0};
    *ended = stream->ended;
    mutex_unlock(&stream->mutex);
    return out->size > 0;
}

void stream_leave(struct stream *stream) {
    if (stream)
        give_up(stream, &stream->left);
}
