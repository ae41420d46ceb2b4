#include "engine/gather.h"

struct gather gather_next(size_t answered, size_t waiting, int64_t took) {
    return (struct gather){.expected = answered + waiting, .patience = took / 2 + 1};
}

enum gather_part gather_part(const struct gather *gather, size_t waiting, bool writing,
                             bool gathering) {
    if (writing)
        return GATHER_WAITS;
    if (waiting >= gather->expected)
        return GATHER_LEADS;
    return gathering ? GATHER_WAITS : GATHER_GATHERS;
}
