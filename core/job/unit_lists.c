#include "job/unit_lists.h"

#define MEMBER(type, kind, name)                                                                   \
    { #name, UNIT_##kind, offsetof(struct unit_##type, name) }

static const struct unit_member instance_members[] = {
    MEMBER(instance, NUMBER, id),       MEMBER(instance, NUMBER, version),
    MEMBER(instance, NUMBER, rev),      MEMBER(instance, NUMBER, parent),
    MEMBER(instance, NUMBER, root),     MEMBER(instance, TIME, started),
    MEMBER(instance, TEXT, frame),      MEMBER(instance, TEXT, ended),
    MEMBER(instance, TEXT, reason),     MEMBER(instance, JSON, variables),
    MEMBER(instance, TEXT, key),        MEMBER(instance, TEXT, tenant),
    MEMBER(instance, TEXT, stuck),      MEMBER(instance, NUMBER, unique),
    MEMBER(instance, NUMBER, migrates), {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member wait_members[] = {
    MEMBER(wait, NUMBER, instance), MEMBER(wait, NUMBER, token), MEMBER(wait, WAITS, what),
    MEMBER(wait, NUMBER, task),     {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member move_members[] = {
    MEMBER(move, NUMBER, instance), MEMBER(move, NUMBER, token),   MEMBER(move, WAITS, what),
    MEMBER(move, NUMBER, to),       MEMBER(move, NUMBER, version), MEMBER(move, TEXT, from_handler),
    MEMBER(move, TEXT, handler),    MEMBER(move, TEXT, activity),  MEMBER(move, NUMBER, listens),
    {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member subscription_members[] = {
    MEMBER(subscription, NUMBER, instance),
    MEMBER(subscription, NUMBER, token),
    MEMBER(subscription, NUMBER, version),
    MEMBER(subscription, TEXT, kind),
    MEMBER(subscription, TEXT, name),
    MEMBER(subscription, TEXT, key),
    MEMBER(subscription, TEXT, activity),
    MEMBER(subscription, TIME, priority),
    {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member task_members[] = {
    MEMBER(task, NUMBER, instance), MEMBER(task, NUMBER, token),   MEMBER(task, TEXT, activity),
    MEMBER(task, TEXT, name),       MEMBER(task, TEXT, assignee),  MEMBER(task, JSON, candidates),
    MEMBER(task, TEXT, form),       MEMBER(task, TIME, due),       MEMBER(task, NUMBER, priority),
    MEMBER(task, NUMBER, id),       MEMBER(task, NUMBER, listens), MEMBER(task, NUMBER, changes),
    {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member trail_members[] = {
    MEMBER(trail, NUMBER, instance),
    MEMBER(trail, TEXT, events),
    {NULL, UNIT_NUMBER, 0},
};
static const struct unit_member message_members[] = {
    MEMBER(message, TEXT, name),
    MEMBER(message, TEXT, key),
    MEMBER(message, JSON, variables),
    MEMBER(message, NUMBER, instance),
    MEMBER(message, TEXT, business_key),
    MEMBER(message, TIME, until),
    MEMBER(message, NUMBER, id),
    MEMBER(message, NUMBER, taken),
    {NULL, UNIT_NUMBER, 0},
};

static const struct unit_member signal_members[] = {
    MEMBER(signal, TEXT, name),         MEMBER(signal, JSON, variables),
    MEMBER(signal, TEXT, tenant),       MEMBER(signal, NUMBER, only),
    MEMBER(signal, NUMBER, bare),       MEMBER(signal, NUMBER, given),
    MEMBER(signal, NUMBER, after),      MEMBER(signal, NUMBER, after_token),
    MEMBER(signal, TIME, until),        MEMBER(signal, NUMBER, instance),
    MEMBER(signal, NUMBER, token),      MEMBER(signal, TEXT, activity),
    MEMBER(signal, TEXT, process),      MEMBER(signal, TIME, priority),
    MEMBER(signal, NUMBER, message),    MEMBER(signal, TEXT, key),
    MEMBER(signal, TEXT, business_key), {NULL, UNIT_NUMBER, 0},
};

static const struct unit_member searched_members[] = {
    MEMBER(searched, NUMBER, instance),
    MEMBER(searched, TEXT, name),
    MEMBER(searched, JSON, value),
    {NULL, UNIT_NUMBER, 0},
};

static const struct unit_member value_members[] = {
    MEMBER(value, NUMBER, instance), MEMBER(value, NUMBER, n), MEMBER(value, TEXT, name),
    MEMBER(value, TEXT, data),       {NULL, UNIT_NUMBER, 0},
};

static const struct unit_member turn_members[] = {
    MEMBER(turn, NUMBER, id),         MEMBER(turn, NUMBER, instance), MEMBER(turn, NUMBER, body),
    MEMBER(turn, NUMBER, body_token), MEMBER(turn, NUMBER, rev),      MEMBER(turn, NUMBER, version),
    MEMBER(turn, NUMBER, parent),     MEMBER(turn, NUMBER, root),     MEMBER(turn, TEXT, key),
    MEMBER(turn, TEXT, tenant),       MEMBER(turn, TEXT, frame),      MEMBER(turn, TEXT, stuck),
    {NULL, UNIT_NUMBER, 0},
};

static const struct unit_member body_members[] = {
    MEMBER(body, NUMBER, id),     MEMBER(body, NUMBER, instance), MEMBER(body, NUMBER, token),
    MEMBER(body, TEXT, activity), MEMBER(body, NUMBER, version),  MEMBER(body, NUMBER, turns),
    MEMBER(body, NUMBER, ended),  MEMBER(body, NUMBER, seen),     MEMBER(body, NUMBER, closed),
    MEMBER(body, NUMBER, clear),  MEMBER(body, NUMBER, migrates), {NULL, UNIT_NUMBER, 0},
};

#define LIST(key, count, type, members)                                                            \
    {                                                                                              \
#key, members, sizeof(struct unit_##type), offsetof(struct unit, key),                     \
            offsetof(struct unit, count)                                                           \
    }
const struct unit_list unit_lists[] = {
    LIST(instances, instance_count, instance, instance_members),
    LIST(left, left_count, wait, wait_members),
    LIST(moves, move_count, move, move_members),
    LIST(subscriptions, subscription_count, subscription, subscription_members),
    LIST(tasks, task_count, task, task_members),
    LIST(trail, trail_count, trail, trail_members),
    LIST(messages, message_count, message, message_members),
    LIST(signals, signal_count, signal, signal_members),
    LIST(searched, searched_count, searched, searched_members),
    LIST(values, value_count, value, value_members),
    LIST(turns, turn_count, turn, turn_members),
    LIST(bodies, body_count, body, body_members),
    {NULL, NULL, 0, 0, 0},
};
