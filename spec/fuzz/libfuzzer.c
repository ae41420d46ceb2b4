/* libfuzzer.c - the way libFuzzer calls a target: `fuzz NAME [-flags] [corpus…]`. */
#include "base/json.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_target *target;

/* Takes the target's name out of the arguments: libFuzzer reads the rest, and hands it on to the
 * processes that it starts itself, when it merges. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    char **given = *arguments;
    json_setup();
    const char *name = getenv("FUZZ_TARGET");
    target = *count > 1 ? fuzz_find(given[1]) : NULL;
    if (!target && name && (target = fuzz_find(name)))
        return 0;
    if (!target || setenv("FUZZ_TARGET", given[1], 1) != 0) {
        fprintf(stderr, "fuzz: expected the name of a target first\n");
        exit(2);
    }
    for (int i = 1; i < *count; i++)
        given[i] = given[i + 1];
    --*count;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target(data, size);
    return 0;
}
