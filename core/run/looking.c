#include "run/looking.h"

void looking_anew(struct looking *looking) {
    looking->look = looking->blind = true;
}

struct offer looking_offer(const struct looking *looking, const struct acquire *acquire, int room) {
    return (struct offer){
        .acquire = acquire,
        .room = room,
        .blind = looking->blind,
        .left = looking->left,
        .best = looking->best,
        .look = looking->look,
    };
}

void looking_after(struct looking *looking, const struct offer *offer) {
    looking->look = offer->look;
    looking->blind = offer->blind;
    looking->left = offer->left;
    looking->best = offer->best;
}
