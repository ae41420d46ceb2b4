/* unit_contract.c - the memory of a unit: aligned, zeroed, and where it was until the unit ends. */
#include "job/unit.h"
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { TEXTS = 5000 };

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static void texts_stay(void) {
    static char *texts[TEXTS];
    struct unit *unit = unit_new();
    char name[32];
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "token %d", i);
        texts[i] = unit_text(unit, name, strlen(name));
    }
    bool same = true;
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "token %d", i);
        same = same && texts[i] && strcmp(texts[i], name) == 0;
    }
    check("a text of a unit stays as it is while others are added", same);
    unit_free(unit);
}

static void rooms_fit(void) {
    struct unit *unit = unit_new();
    bool fits = true;
    for (size_t i = 1; i < 50; i++) {
        fits = fits && unit_text(unit, "odd", i % 4);
        struct unit_instance *instances = unit_room(unit, i, sizeof *instances);
        fits = fits && instances && (uintptr_t)instances % alignof(struct unit_instance) == 0;
        for (size_t k = 0; fits && k < i; k++)
            fits = instances[k].id == 0 && !instances[k].frame;
        if (fits)
            memset(instances, 0xFF, i * sizeof *instances);
    }
    check("room in a unit is aligned, and zero", fits);
    unit_free(unit);
}

int main(void) {
    texts_stay();
    rooms_fit();
    unit_free(NULL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
