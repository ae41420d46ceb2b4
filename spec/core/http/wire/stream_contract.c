/* stream_contract.c - content that comes piece by piece, and a reader that is slow. */
#include "http/wire/stream.h"
#include <stdio.h>
#include <string.h>

enum { PIECE = 64 * 1024 };

static int passed, failed;
static char piece[PIECE];

static void check(bool holds, const char *sentence) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

/* Takes what waits, and says if that is this text. */
static bool takes(struct stream *stream, const char *text) {
    struct text out = {0};
    bool ended = false;
    const bool some = stream_take(stream, &out, &ended);
    const bool same = text ? some && !ended && strcmp(out.data, text) == 0 : !some && !ended;
    text_clear(&out);
    return same;
}

static void in_order(void) {
    struct stream *stream = stream_new("gap");
    stream_write(stream, "one ", 4);
    stream_write(stream, "two", 3);
    check(!stream_gone(stream) && stream_behind(stream) == 7 && takes(stream, "one two") &&
              takes(stream, NULL),
          "pieces come in their order, once");
    stream_leave(stream);
    stream_write(stream, "x", 1);
    check(stream_gone(stream) && stream_behind(stream) == 0,
          "the writer hears that the reader has gone");
    stream_end(stream);
}

static void slow(void) {
    struct stream *stream = stream_new("gap");
    struct text out = {0};
    bool ended = false;
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 10; i++)
        stream_write(stream, piece, sizeof piece);
    stream_write(stream, "x", 1);
    check(stream_behind(stream) == STREAM_MOST, "no more than 256 KiB wait for a reader");
    check(stream_take(stream, &out, &ended) && out.size == STREAM_MOST && takes(stream, "gap") &&
              takes(stream, NULL),
          "a slow reader gets what waits, and is told of the gap once");
    text_clear(&out);
    stream_write(stream, "on", 2);
    check(takes(stream, "on"), "then it goes on with what is new");
    stream_end(stream);
    check(!stream_take(stream, &out, &ended) && ended, "the reader hears that no more comes");
    stream_leave(stream);
}

int main(void) {
    in_order();
    slow();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
