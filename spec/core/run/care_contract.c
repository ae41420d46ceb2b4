/* care_contract.c - how many rows a turn may deal with after turns have failed. */
#include "../store/contract.h"
#include "run/care.h"

enum { ROW = 7, OTHER = 8, SECOND = 1000 };

static const struct error damaged = {ERROR_DAMAGED, "damaged: job 7 has no definition"};

static enum care_verdict fails(struct care *care, int rows, int64_t touched) {
    return care_failed(care, rows, touched, &damaged);
}

/* One whose turns have one row alone. */
static struct care alone(void) {
    return (struct care){.most = 1};
}

/* The row has failed often enough. */
static bool goes_aside(struct care *care, int64_t row) {
    return fails(care, 1, row) == CARE_LATER && fails(care, 1, row) == CARE_LATER &&
           fails(care, 1, row) == CARE_ASIDE && care->row == row;
}

static void halves(struct contract *c) {
    struct care care = {0};
    int turns = 0;
    EXPECT(care_limit(&care, 100) == 100);
    EXPECT(fails(&care, 100, ROW) == CARE_HALF && care_limit(&care, 100) == 50);
    EXPECT(care_limit(&care, 20) == 20);
    while (turns < 10 && fails(&care, care_limit(&care, 50), ROW) == CARE_HALF)
        turns++;
    EXPECT(turns == 5 && care_limit(&care, 50) == 1);
}

static void three_times(struct contract *c) {
    struct care care = alone();
    EXPECT(goes_aside(&care, ROW));
    EXPECT(goes_aside(&care, ROW)); /* it counts anew */
}

static void another_between(struct contract *c) {
    struct care care = alone();
    EXPECT(fails(&care, 1, ROW) == CARE_LATER && fails(&care, 1, ROW) == CARE_LATER);
    EXPECT(goes_aside(&care, OTHER));
    care = alone();
    EXPECT(fails(&care, 1, ROW) == CARE_LATER && fails(&care, 1, ROW) == CARE_LATER);
    care_worked(&care, true, 0);
    care.most = 1;
    EXPECT(goes_aside(&care, ROW));
}

static void no_row(struct contract *c) {
    struct care care = alone();
    for (int i = 0; i < 9; i++)
        EXPECT(fails(&care, 1, 0) == CARE_NONE);
    EXPECT(goes_aside(&care, ROW));
}

static void outside(struct contract *c) {
    static const struct error list[] = {{ERROR_IO, "disk I/O error"},
                                        {ERROR_FULL, "the disk is full"},
                                        {ERROR_BUSY, "locked"},
                                        {ERROR_UNAVAILABLE, "server closed the connection"},
                                        {ERROR_FAILED, "out of memory"},
                                        {ERROR_CONFIG, "a newer schema"},
                                        {ERROR_INTERRUPTED, "interrupted"}};
    struct care care = alone();
    for (int i = 0; i < 9; i++)
        for (size_t at = 0; at < sizeof list / sizeof *list; at++)
            EXPECT(care_failed(&care, 1, ROW, &list[at]) == CARE_NONE);
    struct care any = {0};
    EXPECT(care_failed(&any, 100, ROW, &list[0]) == CARE_NONE && care_limit(&any, 100) == 100);
    EXPECT(care_failed(&any, 100, ROW, &(struct error){ERROR_FAILED, "malformed"}) == CARE_HALF);
}

static void grows(struct contract *c) {
    struct care care = alone();
    int turns = 0;
    for (; turns < 20 && care.most; turns++)
        care_worked(&care, true, 0);
    EXPECT(turns == 13 && care_limit(&care, 1000000) == 1000000);
    care = alone();
    care_worked(&care, false, 0);
    EXPECT(care_limit(&care, 100) == 1);
    care_worked(&care, true, 0);
    EXPECT(care_limit(&care, 100) == 2);
}

static void inherits(struct contract *c) {
    struct care care = {0};
    care_inherit(&care, 100, 0);
    EXPECT(care_limit(&care, 100) == 50);
    care_inherit(&care, 900, 0);
    EXPECT(care_limit(&care, 900) == 50);
    care_inherit(&care, 10, 0);
    EXPECT(care_limit(&care, 900) == 5);
    care_worked(&care, true, SECOND - 1);
    EXPECT(care_limit(&care, 900) == 5);
    care_worked(&care, true, SECOND);
    EXPECT(care_limit(&care, 900) == 10);
    care_worked(&care, true, 2 * SECOND - 1);
    EXPECT(care_limit(&care, 900) == 10);
    EXPECT(fails(&care, 10, ROW) == CARE_HALF);
    care_worked(&care, true, SECOND);
    EXPECT(care_limit(&care, 900) == 10); /* a failure of its own, which is over */
}

static void all_rows(struct contract *c) {
    struct care care = alone();
    for (int i = 1; i <= 16; i++)
        EXPECT(goes_aside(&care, i));
    care_worked(&care, false, 0);
    EXPECT(fails(&care, 1, 17) == CARE_NONE);
    care_worked(&care, true, 0);
    care.most = 1;
    for (int i = 18; i < 34; i++)
        EXPECT(goes_aside(&care, i));
    EXPECT(fails(&care, 1, 34) == CARE_NONE);
}

static const struct check checks[] = {
    {"a turn that fails is tried with half the rows, down to one", halves},
    {"a row that fails alone three times in a row is set aside", three_times},
    {"another row between them, or a turn that works, begins the count anew", another_between},
    {"a turn that has dealt with no row blames none", no_row},
    {"what lies outside of all rows blames none", outside},
    {"a turn that works with rows doubles their number, until it is any", grows},
    {"what a process has died of is halved, and grows once a second", inherits},
    {"if one row after the other fails, no more than sixteen are set aside", all_rows},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
