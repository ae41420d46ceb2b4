/* page.h - which rows of a list are asked for, and where the next ones are. */
#pragma once

#include "http/api/call.h"

enum { PAGE_ROWS = 50, PAGE_MOST = 1000, PAGE_DEEPEST = 10000 };

/* A cursor is opaque to callers: it has the hash of the question, and where its next page begins:
 * behind an id, at the key of a walk, else at an offset. */
struct page {
    enum ask_kind kind;
    int64_t limit, offset;
    bool walks, by_id;
    int64_t hash;  /* of the question */
    json_t *asked; /* filters, sort, limit and so on, for engine_ask; the page's */
};

/* Reads limit, after, sort and fields, with filters as they are asked by now. page_clear in any
 * case afterwards. */
bool page_read(struct page *page, const struct call *call, enum ask_kind kind,
               const json_t *filters, struct error *error);
/* { items, next }: takes what was answered over. NULL: error. */
json_t *page_answer(const struct page *page, const struct call *call, json_t *answer,
                    struct error *error);
void page_clear(struct page *page);
