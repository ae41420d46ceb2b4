#include "engine/gather.h"

struct gather gather_next(size_t answered, size_t waiting, int64_t took) {
    return (struct gather){.expected = answered + waiting, .patience = took / 2 + 1};
}
