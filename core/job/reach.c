#include "job/reach.h"
#include "base/json.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ENTRY_MAX = 255 }; /* bytes of a name */

/* An address with the bits that count. */
struct network {
    unsigned char bytes[16];
    int size, bits; /* bytes of an address of its kind */
};

/* ---- networks ---- */

static bool read_address(const char *text, struct network *network) {
    bool short_one = inet_pton(AF_INET, text, network->bytes) == 1;
    network->size = short_one ? 4 : 16;
    network->bits = network->size * 8;
    return short_one || inet_pton(AF_INET6, text, network->bytes) == 1;
}

static bool read_network(const char *entry, struct network *network) {
    char text[ENTRY_MAX + 1], *end = NULL;
    const char *slash = strchr(entry, '/');
    size_t size = slash ? (size_t)(slash - entry) : strlen(entry);
    if (size >= sizeof text)
        return false;
    memcpy(text, entry, size);
    text[size] = 0;
    if (!read_address(text, network))
        return false;
    if (!slash)
        return true;
    long bits = isdigit((unsigned char)slash[1]) ? strtol(slash + 1, &end, 10) : -1;
    bool fine = bits >= 0 && bits <= network->bits && !*end;
    network->bits = fine ? (int)bits : 0;
    return fine;
}

/* Makes an IPv4 address or network inside an IPv6 one what it is. */
static void unmap(struct network *network) {
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (network->size != 16 || network->bits < 96 ||
        memcmp(network->bytes, mapped, sizeof mapped) != 0)
        return;
    memmove(network->bytes, network->bytes + 12, 4);
    network->size = 4;
    network->bits -= 96;
}

/* Where a connection to "any address" ends: at this machine. False: it is another address. */
static bool becomes_loopback(struct network *address) {
    static const unsigned char any[16];
    if (memcmp(address->bytes, any, (size_t)address->size) != 0)
        return false;
    address->bytes[0] = address->size == 4 ? 127 : 0;
    address->bytes[address->size - 1] = 1;
    return true;
}

static bool holds(const struct network *network, const unsigned char *bytes, int size) {
    if (network->size != size)
        return false;
    int whole = network->bits / 8, rest = network->bits % 8;
    unsigned mask = 0xffu << (8 - rest) & 0xffu;
    return memcmp(network->bytes, bytes, (size_t)whole) == 0 &&
           (rest == 0 || ((network->bytes[whole] ^ bytes[whole]) & mask) == 0);
}

static bool is_among(const json_t *list, const struct network *address) {
    size_t i;
    const json_t *entry;
    struct network network;
    json_array_foreach(list, i, entry) {
        if (!read_network(json_string_value(entry), &network))
            continue;
        unmap(&network);
        if (holds(&network, address->bytes, address->size))
            return true;
    }
    return false;
}

bool reach_has_address(const json_t *list, const struct sockaddr *address) {
    struct network one = {.size = address->sa_family == AF_INET ? 4 : 16};
    one.bits = one.size * 8;
    if (one.size == 4)
        memcpy(one.bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    else
        memcpy(one.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    unmap(&one);
    return is_among(list, &one) || (becomes_loopback(&one) && is_among(list, &one));
}

bool reach_has_text(const json_t *list, const char *address) {
    struct network one = {0};
    if (!read_network(address, &one))
        return false;
    unmap(&one);
    return is_among(list, &one);
}

/* ---- names ---- */

/* Letters, digits, hyphens and dots; "*." may stand before them. */
static bool is_name(const char *entry) {
    const char *name = strncmp(entry, "*.", 2) == 0 ? entry + 2 : entry;
    bool letter = false;
    for (const char *at = name; *at; at++) {
        letter = letter || isalpha((unsigned char)*at);
        if (!isalnum((unsigned char)*at) && !strchr("-._", *at))
            return false;
    }
    return letter && strlen(entry) <= ENTRY_MAX;
}

/* A name may end in a dot, and means the same. */
static bool names(const char *entry, const char *host, size_t size) {
    size_t tail = strlen(entry);
    tail -= tail > 0 && entry[tail - 1] == '.';
    if (*entry != '*')
        return tail == size && strncasecmp(entry, host, size) == 0;
    tail--; /* ".example.com" */
    return size > tail && strncasecmp(host + size - tail, entry + 1, tail) == 0;
}

bool reach_has_name(const json_t *list, const char *host) {
    size_t i, size = strlen(host);
    const json_t *entry;
    size -= size > 0 && host[size - 1] == '.';
    json_array_foreach(list, i, entry) {
        if (names(json_string_value(entry), host, size))
            return true;
    }
    return false;
}

bool reach_has_peer(const json_t *list, const char *address) {
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry) {
        if (strcmp(address, "unix") == 0 && strcmp(json_string_value(entry), "unix") == 0)
            return true;
    }
    return reach_has_text(list, address);
}

static bool entry_fits(const char *entry, enum reach_entries entries) {
    struct network network;
    return read_network(entry, &network) || (entries == REACH_ALL && is_name(entry)) ||
           (entries == REACH_PEERS && strcmp(entry, "unix") == 0);
}

bool reach_check(const json_t *list, enum reach_entries entries, const char *label,
                 struct error *error) {
    static const char *const expected[] = {
        [REACH_ALL] = "a name such as \"*.example.com\" or a network such as \"10.0.0.0/8\"",
        [REACH_NETWORKS] = "an address, or a network such as \"10.0.0.0/8\"",
        [REACH_PEERS] = "an address, a network such as \"10.0.0.0/8\", or \"unix\"",
    };
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry) {
        const char *text = json_string_value(entry);
        if (text && !entry_fits(text, entries))
            return json_refuse(label, entry, expected[entries], error);
    }
    return true;
}
