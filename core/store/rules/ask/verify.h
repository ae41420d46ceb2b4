/* verify.h - what must be true of a whole store. */
#ifndef MOONSHIFT_STORE_RULES_ASK_VERIFY_H
#define MOONSHIFT_STORE_RULES_ASK_VERIFY_H

/* A question that answers with the ids for which its sentence is true, at most a hundred. */
struct verify_rule {
    const char *sql, *subject, *says; /* says NULL: the answer is the sentence */
};

#endif
