/* site.h - turns that a contract takes by hand: an executor in place of the contract's own
 * membership; both clocks stand at NOW. */
#ifndef MOONSHIFT_SPEC_RUN_SITE_H
#define MOONSHIFT_SPEC_RUN_SITE_H

#include "../store/contract.h"
#include "run/turn.h"

struct site {
    struct clock *clock;
    struct turns *turns;
    struct turn turn;
};

static inline bool site_open(struct contract *c, struct site *site) {
    *site = (struct site){.clock = clock_virtual_new(NOW)};
    if (!store_leave(c->store, &c->error))
        return false;
    site->turns = turns_new(c->store, &c->settings, site->clock, 2, &c->error);
    return site->turns != NULL;
}

static inline void site_close(struct site *site) {
    work_items_free(site->turn.items);
    turns_free(site->turns);
    clock_release(site->clock);
}

#define OPEN                                                                                       \
    struct site site;                                                                              \
    EXPECT(site_open(c, &site))

#endif
