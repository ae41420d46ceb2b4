/* reach.h - which hosts a request of a handler may reach (rules §8): the lists http_allow and
 * http_deny; who may read metrics (metrics_from), and name users (trust_proxy). An entry is the
 * name of a host ("api.example.com"), all names below one ("*.example.com"), an address or a
 * network ("10.0.0.0/8", "fd00::/8"). */
#pragma once

#include "base/error.h"
#include <jansson.h>

struct sockaddr;

enum reach_entries {
    REACH_ALL,
    REACH_NETWORKS, /* addresses and networks */
    REACH_PEERS     /* these, and "unix" for who comes by a unix socket */
};
/* Whether each text of the list is one of these; `label` is what an error calls the setting. */
bool reach_check(const json_t *list, enum reach_entries entries, const char *label,
                 struct error *error);

/* Whether an entry of the list (NULL: none) names the host. */
bool reach_has_name(const json_t *list, const char *host);

/* Whether an entry of the list is the address or its network. An IPv4 address inside an IPv6 one
 * counts as itself; 0.0.0.0 and ::, which lead to this machine, count as its loopback too. */
bool reach_has_address(const json_t *list, const struct sockaddr *address);
/* The same of an address as a text; one that is none is never there. */
bool reach_has_text(const json_t *list, const char *address);
/* The same of a peer, whose address may be "unix". */
bool reach_has_peer(const json_t *list, const char *address);
