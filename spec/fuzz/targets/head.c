/* head.c - heads of requests: whatever is accepted has the form that was promised, in any pieces.
 */
#include "http/wire/head.h"
#include "../fuzz.h"
#include "base/text.h"
#include "http/wire/target.h"

static char *copy(const uint8_t *data, size_t size) {
    char *bytes = malloc(size ? size : 1);
    memcpy(bytes, data, size);
    return bytes;
}

static int pieces(const uint8_t *data, size_t size, size_t first, size_t *end) {
    struct head_scan scan = {0};
    char *bytes = copy(data, size);
    int state = head_scan(&scan, bytes, first);
    if (state == HEAD_MORE)
        state = head_scan(&scan, bytes, size);
    PROMISE(scan.at <= size && (state <= HEAD_WHOLE || scan.why));
    *end = scan.at;
    free(bytes);
    return state;
}

static void target_holds(struct head *head) {
    static struct named_text query[EXCHANGE_PARAMETERS];
    static struct exchange exchange = {.query = query};
    const char *why = NULL;
    int status =
        target_read(&exchange, (char *)(uintptr_t)head->path, (char *)(uintptr_t)head->query, &why);
    PROMISE(status == 0 || status == 400 || status == 404);
    PROMISE(status == 0 || why);
    for (size_t i = 0; status == 0 && i < exchange.part_count; i++) {
        const char *part = exchange.parts[i];
        PROMISE(part[0] && !strpbrk(part, "/\\") && utf8_valid(part, strlen(part), NULL));
        PROMISE(strcmp(part, "..") != 0 && !utf8_has_control(part));
    }
}

static void whole(const uint8_t *data, size_t size) {
    struct head head;
    char *bytes = copy(data, size);
    int state = head_read(&head, bytes, size);
    PROMISE(state == HEAD_WHOLE || (state >= 400 && state < 600 && head.why));
    if (state == HEAD_WHOLE) {
        PROMISE(head.method[0] && head.path[0] == '/' && head.host[0]);
        PROMISE(head.header_count >= 1 && head.header_count <= HEAD_LINES);
        for (size_t i = 0; i < head.header_count; i++)
            PROMISE(head.headers[i].name[0] &&
                    strcmp(head.headers[i].name, "transfer-encoding") != 0);
        target_holds(&head);
    }
    free(bytes);
}

void fuzz_head(const uint8_t *data, size_t size) {
    size_t end, other;
    int state = pieces(data, size, size, &end);
    PROMISE(pieces(data, size, size / 2, &other) == state && other == end);
    PROMISE(pieces(data, size, size ? data[0] % size : 0, &other) == state && other == end);
    if (state == HEAD_WHOLE)
        whole(data, end);
}
