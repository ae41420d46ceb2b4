#include "time/cron.h"

/* Bit n of a set of days. */
static uint32_t day_bit(int day) {
    return UINT32_C(1) << day;
}

/* 0 is Sunday; `first` is the weekday of day 1. */
static int weekday_of(int first, int day) {
    return (first + day - 1) % 7;
}

/* nW: the weekday Monday to Friday closest to a day, within its month. */
static int nearest_workday(int first, int last, int day) {
    int weekday = weekday_of(first, day);
    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < last ? day + 1 : day - 2;
    return day;
}

static uint32_t matching_days(const struct cron *cron, int first, int last) {
    uint32_t days = cron->days;
    for (int back = 0; back < last; back++)
        if (cron->last_days & day_bit(back))
            days |= day_bit(last - back);
    for (int day = 1; day <= last; day++)
        if (cron->near_days & day_bit(day))
            days |= day_bit(nearest_workday(first, last, day));
    if (cron->last_near)
        days |= day_bit(nearest_workday(first, last, last));
    return days;
}

static uint32_t matching_weekdays(const struct cron *cron, int first, int last) {
    uint32_t days = 0;
    for (int day = 1; day <= last; day++) {
        int weekday = weekday_of(first, day), nth = (day + 6) / 7;
        if ((cron->weekdays | (day + 7 > last ? cron->last_weekdays : 0u)) & day_bit(weekday) ||
            cron->nth_weekdays[weekday] & day_bit(nth))
            days |= day_bit(day);
    }
    return days;
}

uint32_t cron_month_days(const struct cron *cron, int64_t year, int month) {
    int last = days_in_month(year, month);
    int first = (int)((civil_to_days(year, month, 1) + 4) % 7); /* 1970-01-01 was a Thursday */
    if (first < 0)
        first += 7;
    uint32_t days = matching_days(cron, first, last);
    uint32_t weekdays = matching_weekdays(cron, first, last);
    bool either = !cron->both && !cron->starred_day;
    days = either ? days | weekdays : days & weekdays;
    return days & (uint32_t)((UINT64_C(2) << last) - 1);
}

/* The lowest member of a set at or above `from`; -1: none. */
static int lowest(uint64_t set, int from) {
    set = from < 64 ? set >> from << from : 0;
    return set ? __builtin_ctzll(set) : -1;
}

/* The first matching second of the day at or after `from`; -1: none on this day. */
static int next_second(const struct cron *cron, int from) {
    int hour = from / 3600, minute = from / 60 % 60, second = from % 60;
    if (cron->hours >> hour & 1) {
        if (cron->minutes >> minute & 1 && (second = lowest(cron->seconds, second)) >= 0)
            return (hour * 60 + minute) * 60 + second;
        if ((minute = lowest(cron->minutes, minute + 1)) >= 0)
            return (hour * 60 + minute) * 60 + lowest(cron->seconds, 0);
    }
    if ((hour = lowest(cron->hours, hour + 1)) < 0)
        return -1;
    return (hour * 60 + lowest(cron->minutes, 0)) * 60 + lowest(cron->seconds, 0);
}

/* The first matching day at or after the given one, counted from 1970; -1: none until 9999. */
static int64_t next_day(const struct cron *cron, int64_t from, bool *found) {
    int64_t year;
    int month, day;
    civil_from_days(from, &year, &month, &day);
    for (; year <= 9999; day = 1) {
        if (cron->months & day_bit(month) && cron_has_year(cron, year)) {
            int match = lowest(cron_month_days(cron, year, month), day);
            if (match >= 0) {
                *found = true;
                return civil_to_days(year, month, match);
            }
        }
        year += month == 12;
        month = month % 12 + 1;
    }
    *found = false;
    return 0;
}

/* The first matching local time after `local`, in ms; TIME_NEVER: none. */
static time_ms next_local(const struct cron *cron, time_ms local) {
    int64_t from = divide_down(local, 1000) + 1, day = divide_down(from, 86400);
    bool found;
    int64_t match = next_day(cron, day, &found);
    int second = match == day ? next_second(cron, (int)(from - day * 86400)) : next_second(cron, 0);
    if (found && second < 0) {
        match = next_day(cron, day + 1, &found);
        second = next_second(cron, 0);
    }
    return found ? (match * 86400 + second) * 1000 : TIME_NEVER;
}

/* Matches are local times. Those up to the latest that has been on the wall are gone: it has passed
 * them, skipped them, or shows them again. */
static time_ms next_fixed(const struct cron *cron, const struct zone *zone, time_ms after) {
    time_ms local = next_local(cron, zone_reached(zone, after));
    return local == TIME_NEVER ? TIME_NEVER : zone_instant(zone, local);
}

/* Matches are instants that show a matching local time. Up to the next change of the clock local
 * time runs on; what comes from the change on is looked for with the offset that holds then. */
static time_ms next_elapsed(const struct cron *cron, const struct zone *zone, time_ms after) {
    const time_ms shortly = 3 * DAY_MS; /* a change sets the clock back by less */
    time_ms local = zone_local(zone, after), offset = zone_offset(zone, after) * INT64_C(1000);
    time_ms at = local - offset;
    for (;;) {
        time_ms match = next_local(cron, local), change = zone_change(zone, at);
        time_ms next = match == TIME_NEVER ? TIME_NEVER : match - offset;
        if (next < change || change == TIME_NEVER)
            return next;
        if (match == TIME_NEVER && change - at > shortly)
            return TIME_NEVER;
        at = change;
        offset = zone_offset(zone, at) * INT64_C(1000);
        local = at + offset - 1;
    }
}

time_ms cron_next(const struct cron *cron, const struct zone *zone, time_ms after) {
    if (!cron->months)
        return TIME_NEVER;
    time_ms next = cron->frequent ? next_elapsed(cron, zone, after) : next_fixed(cron, zone, after);
    return next > after && next <= TIME_LAST ? next : TIME_NEVER;
}
