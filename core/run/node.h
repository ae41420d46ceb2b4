/* node.h - an executor as users know it (rules §13): one name, one pool of workers, the engines it
 * serves, and one loop thread for each named acquisition that they share. Engines come and go while
 * it runs. */
#ifndef MOONSHIFT_RUN_NODE_H
#define MOONSHIFT_RUN_NODE_H

#include "run/foreman.h"

struct node;
struct member; /* an engine that a node serves */

struct node_options {
    const struct settings *settings; /* workers, queue, keep_alive */
    bool program;    /* TERM and INT stop, HUP reloads; what is fatal for one engine ends
                        all; the first loop runs in the thread that calls node_run */
    bool interrupts; /* SIGURG is ours, as in the program (which it goes without saying) */
    bool watched;    /* its folders count always, what handlers print is in the log at once */
    bool drain;      /* end when nothing is due and nothing runs in any engine */
    void (*tick)(void *arg); /* once a second, or NULL */
    void *arg;
    void (*begins)(void *arg, const struct job *job); /* see pool.h; NULL: nobody */
    void *begins_arg;
};

struct member_options {
    const struct settings *settings; /* as the engine has them here; copied */
    struct clock *clock;
    struct folder *folder;                                            /* its first generation */
    struct folder *(*read)(const json_t *paths, struct error *error); /* see foreman.h */
    const json_t *paths;
};

/* Starts nothing yet. NULL: error. */
struct node *node_new(const struct node_options *options, struct error *error);
/* Must not run any more. A thread whose handler does not end is left behind, with the memory it
 * uses. NULL is fine. */
void node_free(struct node *node);

/* Opens the engine's store, loads and deploys its folder, joins; if the node runs, work begins. One
 * thread at a time calls this and all below, but not the node's own. NULL: error. */
struct member *node_add(struct node *node, const struct member_options *options,
                        struct error *error);
/* Ends its work as TERM does: what has not begun is given back, running jobs get shutdown_wait; the
 * other engines go on. Waits for it and frees the member. False: the error that had ended it. */
bool node_remove(struct node *node, struct member *member, struct error *error);

/* Starts a thread for every loop; false: error. node_stop ends them. */
bool node_start(struct node *node, struct error *error);
/* Stops every engine as TERM does, and waits; the members stay, to be asked for their status. */
void node_stop(struct node *node);
/* The program: starts the node and returns when every engine has ended. False: the first fatal
 * error (foreman_verdict). */
bool node_run(struct node *node, struct error *error);

/* The sums over all its engines, those that were removed included. */
void node_status(struct node *node, struct foreman_status *status);
void member_status(struct member *member, struct foreman_status *status);
/* False: it has ended with this error. */
bool member_fine(struct member *member, struct error *error);
/* Loads the engine's folder again. */
void member_reload(struct member *member);

#endif
