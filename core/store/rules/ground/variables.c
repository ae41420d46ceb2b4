#include "store/rules/ground/variables.h"
#include "base/json.h"
#include <math.h>
#include <string.h>

#define EXPECTED                                                                                   \
    "a text, a number, true or false, a list of them, or comparisons such as [\">\", 100]"

/* ---- comparisons ---- */

/* Its SQL, with " ?" to follow; NULL: no comparison. */
static const char *comparison_of(const json_t *value) {
    static const char *const known[] = {"=", "<>", "<", "<=", ">", ">="};
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i]) == 0)
            return known[i];
    return NULL;
}

static void compare(struct query *query, const char *column, const char *sql, json_t *value) {
    query_add(query, column);
    query_add(query, sql);
    query_bind_new(query, value);
}

/* A column that cannot hold the number itself: `below` and `above` are the nearest that it can,
 * NULL where there is none. Takes both over. */
static void compare_between(struct query *query, const char *column, const char *sql, json_t *below,
                            json_t *above) {
    json_t *end = *sql == '>' ? above : below;
    bool apart = strcmp(sql, "<>") == 0;
    if (apart) {
        query_add(query, column);
        query_add(query, " IS NOT NULL");
    } else if (*sql == '=' || !end) {
        query_add(query, "1=0");
    } else {
        compare(query, column, *sql == '>' ? ">=" : "<=", json_incref(end));
    }
    json_decref(below);
    json_decref(above);
}

#define WHOLE_END 0x1p63 /* the first number above all of 64 bits */

/* Whole numbers beside any other. */
static void compare_wholes(struct query *query, const char *sql, double number) {
    const char *column = "v.whole";
    if (number >= WHOLE_END)
        compare_between(query, column, sql, json_integer(INT64_MAX), NULL);
    else if (number < -WHOLE_END)
        compare_between(query, column, sql, NULL, json_integer(INT64_MIN));
    else if (number == floor(number))
        compare(query, column, sql, json_integer((json_int_t)number));
    else
        compare_between(query, column, sql, json_integer((json_int_t)floor(number)),
                        json_integer((json_int_t)ceil(number)));
}

/* Other numbers beside a whole one, which may lie between two of them. */
static void compare_reals(struct query *query, const char *sql, json_int_t whole) {
    double near = (double)whole;
    bool over = near >= WHOLE_END || (json_int_t)near > whole;
    if (!over && (json_int_t)near == whole)
        compare(query, "v.number", sql, json_real(near));
    else
        compare_between(query, "v.number", sql, json_real(over ? nextafter(near, -INFINITY) : near),
                        json_real(over ? near : nextafter(near, INFINITY)));
}

static void compare_number(struct query *query, const char *sql, const json_t *value) {
    query_add(query, "(");
    if (json_is_real(value)) {
        compare(query, "v.number", sql, json_incref(json_unchanged(value)));
        query_add(query, " OR ");
        compare_wholes(query, sql, json_real_value(value));
    } else {
        compare_reals(query, sql, json_integer_value(value));
        query_add(query, " OR ");
        compare(query, "v.whole", sql, json_incref(json_unchanged(value)));
    }
    query_add(query, ")");
}

/* False: the value cannot be compared. */
static bool compare_value(struct query *query, const char *sql, const json_t *value) {
    if (json_is_number(value))
        compare_number(query, sql, value);
    else if (json_is_string(value))
        compare(query, "v.text", sql, json_incref(json_unchanged(value)));
    else if (json_is_boolean(value))
        compare(query, "v.text", sql, json_string(json_is_true(value) ? "true" : "false"));
    else
        return false;
    return true;
}

/* ---- conditions ---- */

static bool any_of(struct query *query, const json_t *value) {
    size_t count = filter_count(value);
    query_add(query, count ? "(" : "1=0");
    for (size_t i = 0; i < count; i++) {
        query_add(query, i ? " OR " : "");
        if (!compare_value(query, "=", filter_value(value, i)))
            return false;
    }
    query_add(query, count ? ")" : "");
    return true;
}

static bool all_hold(struct query *query, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i += 2) {
        const char *sql = comparison_of(json_array_get(list, i));
        query_add(query, i ? " AND " : "");
        if (!sql || !compare_value(query, sql, json_array_get(list, i + 1)))
            return false;
    }
    return true;
}

static bool condition(struct query *query, const json_t *value) {
    return json_is_array(value) && comparison_of(json_array_get(value, 0)) ? all_hold(query, value)
                                                                           : any_of(query, value);
}

/* null: it has no such variable. */
static bool add_one(struct query *query, const struct filter *filter, const char *name,
                    const json_t *value) {
    bool none = json_is_null(value);
    query_add(query, filter->sql);
    query_add(query, none ? " NOT IN" : " IN");
    query_add(query, " (SELECT v.instance FROM searched v WHERE v.name=");
    query_bind_new(query, json_string(name));
    query_add(query, none ? "" : " AND ");
    bool fine = none || condition(query, value);
    query_add(query, ")");
    return fine;
}

bool filter_variables(struct query *query, const struct filter *filter, const json_t *value,
                      struct error *error) {
    const char *name;
    json_t *one;
    size_t count = 0;
    if (!json_is_object(value))
        return error_set(error, ERROR_INVALID, "filter \"%s\": expected an object", filter->name);
    json_object_foreach(json_unchanged(value), name, one) {
        query_add(query, count++ ? " AND " : "");
        if (!add_one(query, filter, name, one))
            return error_set(error, ERROR_INVALID, "filter \"%s\": %.255s: expected " EXPECTED,
                             filter->name, name);
    }
    query_add(query, count ? "" : "1=1");
    return true;
}

/* ---- names ---- */

static bool variables_refuse(struct store *store, const char *name, struct error *error) {
    struct text known = {0};
    struct row *row = db_query(
        &store->db, error, "SELECT DISTINCT name FROM searched_name ORDER BY name LIMIT 20", "");
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        text_add(&known, "%s%s", known.size ? ", " : "", row_text(row, 0));
    if (step == NO)
        error_set(error, ERROR_INVALID,
                  "filter \"variables\": no process searches \"%.255s\" (known: %s)", name,
                  known.data ? known.data : "none; a process names them in its option search");
    text_clear(&known);
    return false;
}

static bool all_known(struct store *store, const json_t *variables, struct error *error) {
    const char *name;
    json_t *value;
    json_object_foreach(json_unchanged(variables), name, value) {
        int64_t one = 0;
        enum answer found =
            db_value(&store->db, error, &one, "SELECT 1 FROM searched_name WHERE name=?1 LIMIT 1",
                     "t", name);
        if (found != YES)
            return found == NO && variables_refuse(store, name, error);
    }
    return true;
}

bool variables_known(struct store *store, const json_t *filters, struct error *error) {
    const json_t *variables = json_object_get(filters, "variables");
    bool own = false;
    if (!json_is_object(variables))
        return true;
    if (!look_begin(store, &own, error))
        return false;
    bool known = all_known(store, variables, error);
    look_end(store, own);
    return known;
}
