/* cycle_contract.c - what cycles, cron and zones promise of any text and any file: no crash, no
 * endless search, every date later than the one before. The seed is printed; SPEC_SEED sets it. */
#include "base/text.h"
#include "base/thread.h"
#include "time/cycle.h"
#include "time/tzif.h"
#include "time/window.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE 8192
#define THREADS 8

static int passed, failed;
static uint64_t state;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static const char *const names[] = {"UTC",          "Europe/Berlin",       "Australia/Lord_Howe",
                                    "Pacific/Apia", "America/Sao_Paulo",   "Africa/Cairo",
                                    "Asia/Manila",  "America/Scoresbysund"};
#define NAMES (sizeof names / sizeof *names)

static const struct zone *any_zone(void) {
    return zone_find(names[draw(NAMES)], NULL);
}

/* Pieces of which texts are made, sensible more often than not. */
static void make_text(char *text, size_t size) {
    static const char *const pieces[] = {
        "*",    " ",    " * ",   "0 ",     "5",          "15 ",    "31",       "2",     ",",
        "-",    "/",    "?",     "L",      "LW",         "15W",    "L-3",      "MON#2", "5L",
        "FRI",  "JAN",  "mar",   "@daily", "*/",         "1-5",    "R",        "R/",    "R3/",
        "P",    "PT",   "P1M",   "PT5M",   "2026-01-01", "T12:00", "Z",        "Y",     "0.5S",
        "9999", "29 2", "1M31D", "PT1S/",  ":",          "#",      "\xC3\xA9", "\t"};
    size_t used = 0;
    bool fields = draw(2);
    text[0] = 0;
    for (uint32_t left = fields ? 5 + draw(2) : 1 + draw(12); left > 0; left--) {
        const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
        char byte[2] = {(char)(1 + draw(255)), 0};
        if (draw(20) == 0)
            piece = byte;
        if (used + strlen(piece) + 2 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", piece, fields ? " " : "");
    }
}

/* Some dates of a cycle from anywhere: each later than the last, none skipped. */
static bool goes_on(const struct cycle *cycle, time_ms after) {
    for (int i = 0; i < 5; i++) {
        time_ms next = cycle_next(cycle, after);
        if (next == TIME_NEVER)
            return true;
        if (next <= after || next > TIME_LAST || cycle_next(cycle, next - 1) != next)
            return false;
        after = next;
    }
    return true;
}

static bool survives(const char *text) {
    static const time_ms instants[] = {TIME_NONE, TIME_FIRST,    -1,
                                       0,         1774742400000, 4102444800000,
                                       TIME_LAST, TIME_LAST - 1, TIME_NEVER - 1};
    struct cycle cycle;
    struct error error = {0};
    time_ms origin = instants[draw(9)] / 2 + (time_ms)draw(2000000000) * 100;
    if (!cycle_parse(text, any_zone(), origin, &cycle, &error))
        return error.code == ERROR_INVALID && utf8_valid(error.text, strlen(error.text), NULL);
    for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
        if (!goes_on(&cycle, instants[i]))
            return false;
    return true;
}

static void check_texts(void) {
    char text[200];
    bool fine = true;
    for (int i = 0; i < 100000 && fine; i++) {
        make_text(text, sizeof text);
        fine = survives(text);
    }
    if (!fine)
        printf("# %s\n", text);
    check("any text is a cycle whose dates go on, or is refused", fine);
}

static void check_ends(void) {
    static const char *const texts[] = {"R/P1M",   "R/P1D",   "R/PT1H",   "R/9999-12-31/P1M",
                                        "@hourly", "@yearly", "R/P10000Y"};
    struct cycle cycle;
    bool fine = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t zone = 0; zone < NAMES; zone++) {
            fine = fine && cycle_parse(texts[i], zone_find(names[zone], NULL), TIME_LAST - DAY_MS,
                                       &cycle, NULL);
            for (time_ms at = TIME_LAST - 2 * DAY_MS; fine && at != TIME_NEVER;) {
                time_ms next = cycle_next(&cycle, at);
                fine = next > at;
                at = next;
            }
        }
    check("every cycle comes to an end at the end of the calendar", fine);
}

/* A file as it is found on this machine; its bytes may be changed. */
static size_t read_zone(const char *name, char *bytes) {
    char path[200];
    size_t size = 0;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    char *data = file_read(path, &size);
    size = data && size <= FILE_SIZE ? size : 0;
    if (size > 0)
        memcpy(bytes, data, size);
    free(data);
    return size;
}

/* Whatever was read answers for every second, with a stretch that holds it. */
static bool answers(const char *bytes, size_t size) {
    struct tzif tzif;
    char *exact = malloc(size + 1); /* so that a sanitizer sees one byte too many */
    bool fine = exact;
    if (exact)
        memcpy(exact, bytes, size);
    if (exact && !tzif_read(&tzif, exact, size)) {
        for (int64_t second = -70000000000; second < 260000000000; second += 30000000001) {
            struct tzif_stretch stretch = tzif_at(&tzif, second);
            fine = fine && stretch.from <= second && second < stretch.until &&
                   stretch.offset > TZIF_OFFSET_MIN && stretch.offset < TZIF_OFFSET_MAX;
        }
        tzif_clear(&tzif);
    }
    free(exact);
    return fine;
}

static void check_damage(void) {
    static char bytes[FILE_SIZE], damaged[FILE_SIZE];
    bool fine = true;
    for (size_t i = 0; i < NAMES; i++) {
        size_t size = read_zone(names[i], bytes);
        fine = fine && size > 0;
        for (size_t cut = 0; cut < size; cut += 1 + cut / 50)
            fine = fine && answers(bytes, cut);
        for (int n = 0; n < 300 && size > 0; n++) {
            memcpy(damaged, bytes, size);
            for (uint32_t left = 1 + draw(4); left > 0; left--)
                damaged[draw(draw(2) ? 100 : (uint32_t)size)] = (char)draw(256);
            fine = fine && answers(damaged, size);
        }
    }
    check("a zone's file that is cut or damaged is refused, or answers all the same", fine);
}

static void *find_all(void *arg) {
    const struct zone **found = arg;
    for (size_t i = 0; i < NAMES; i++)
        found[i] = zone_find(names[i], NULL);
    return NULL;
}

static void check_threads(void) {
    static const struct zone *found[THREADS][NAMES];
    struct thread threads[THREADS] = {0};
    bool same = true;
    for (int i = 0; i < THREADS; i++)
        same = same && thread_start(&threads[i], find_all, found[i]);
    for (int i = 0; i < THREADS; i++)
        thread_join(&threads[i]);
    for (int i = 0; i < THREADS; i++)
        for (size_t n = 0; n < NAMES; n++)
            same = same && found[i][n] && found[i][n] == found[0][n] &&
                   strcmp(zone_name(found[i][n]), names[n]) == 0;
    check("threads that ask for a zone at once share it", same);
}

static void check_misfire(void) {
    enum misfire misfire;
    struct error error = {0};
    bool fine = true;
    for (enum misfire each = MISFIRE_ONCE; each <= MISFIRE_SKIP; each++)
        fine = fine && misfire_parse(misfire_name(each), &misfire, &error) && misfire == each;
    check("a misfire policy is read by its name", fine);
    check("an unknown one is refused",
          !misfire_parse("never", &misfire, &error) &&
              !strcmp(error.text, "misfire \"never\": expected \"once\", \"all\" or \"skip\""));
}

static void check_window(void) {
    struct window window;
    json_t *texts = json_pack("[s]", "02:30-02:45");
    time_ms before = 0, opens = 0;
    bool fine = time_parse("2026-03-28T12:00:00Z", &before, NULL) &&
                time_parse("2026-03-30T00:30:00Z", &opens, NULL) &&
                window_read(&window, texts, "Europe/Berlin", NULL);
    check("a window does not open on a day whose clocks skip it whole",
          fine && window_opens(&window, before) == opens);
    json_decref(texts);
}

int main(void) {
    const char *seed = getenv("SPEC_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 1;
    printf("# SPEC_SEED=%llu\n", (unsigned long long)state);
    check_threads();
    check_texts();
    check_ends();
    check_damage();
    check_misfire();
    check_window();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
