#include "script/transfer.h"
#include "base/clamp.h"
#include "base/thread.h"
#include "job/reach.h"
#define CURL_DISABLE_TYPECHECK
#include <assert.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_NAME "libcurl.so.4"
#define HEAD_MAX ((size_t)65536) /* bytes of all heads of one hop */
#define CONNECTIONS 16L          /* kept by a state */
#define SLICE 50                 /* ms between two looks at the deadline where no signal comes */
#define URL_SHOWN 256            /* bytes of it in a message */
#define ORIGIN_SIZE 320          /* bytes; a name has at most 255 */

/* ---- the library ---- */

/* clang-format off */
#define LIBCURL(F) \
    F(easy_cleanup) F(easy_getinfo) F(easy_init) F(easy_reset) F(easy_setopt) F(easy_strerror) \
    F(free) F(global_init) F(multi_add_handle) F(multi_cleanup) F(multi_info_read) F(multi_init) \
    F(multi_perform) F(multi_poll) F(multi_remove_handle) F(multi_setopt) F(slist_append) \
    F(slist_free_all) F(url) F(url_cleanup) F(url_get) F(url_set)
/* clang-format on */

/* Macros that would count the arguments. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define POINTER(name) __typeof__(curl_##name) *name;
#define NAME(name) "curl_" #name,

static struct libcurl { LIBCURL(POINTER) } curl;

static const char *const names[] = {LIBCURL(NAME)};
enum { COUNT = sizeof names / sizeof *names };
static_assert(sizeof(struct libcurl) == COUNT * sizeof(void *), "a pointer for each name");

static struct mutex mutex = {PTHREAD_MUTEX_INITIALIZER};
static bool loaded;

static bool load(char *message, size_t size) {
    void *library = dlopen(FILE_NAME, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(message, size, "http.request needs " FILE_NAME ": %s", dlerror());
        return false;
    }
    for (size_t i = 0; i < COUNT; i++) {
        void *function = dlsym(library, names[i]);
        if (!function) {
            snprintf(message, size, FILE_NAME " is too old: it has no %s", names[i]);
            return false;
        }
        memcpy((char *)&curl + i * sizeof function, &function, sizeof function);
    }
    return curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* A library that stays: other threads may use it until the process ends. */
static bool load_once(char *message, size_t size) {
    mutex_lock(&mutex);
    loaded = loaded || load(message, size);
    bool fine = loaded;
    mutex_unlock(&mutex);
    return fine;
}

/* ---- what a state keeps ---- */

/* The connections belong to the multi handle. */
struct transfers {
    CURLM *multi;
    CURL *easy;
};

/* NULL: no memory. */
static struct transfers *transfers_of(struct state *state) {
    struct transfers *kept = state->transfers;
    if (kept)
        return kept;
    kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    state->transfers = kept;
    kept->multi = curl.multi_init();
    kept->easy = curl.easy_init();
    if (!kept->multi || !kept->easy) {
        transfers_close(state);
        return NULL;
    }
    curl.multi_setopt(kept->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS);
    state_wakes(state);
    return kept;
}

void transfers_close(struct state *state) {
    struct transfers *kept = state->transfers;
    state->transfers = NULL;
    if (kept && kept->easy)
        curl.easy_cleanup(kept->easy);
    if (kept && kept->multi)
        curl.multi_cleanup(kept->multi);
    free(kept);
}

/* ---- one hop ---- */

/* A request to one URL; a redirect makes another one. */
struct hop {
    struct transfer *transfer;
    struct transfers *kept;
    CURLU *url;
    char *host;
    bool allowed; /* by its name */
    const char *method;
    bool has_body;
    bool sheds; /* another origin than the first: it gets no secrets */
    size_t head_size;
    bool in_head, too_large, denied;
    bool has_head; /* to its blank line; trailers may follow behind the body */
    char words[CURL_ERROR_SIZE];
};

static bool fail(struct transfer *transfer, enum transfer_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(struct transfer *transfer, enum transfer_fault fault, const char *format, ...) {
    va_list arguments;
    char text[400];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    transfer->fault = fault;
    snprintf(transfer->message, sizeof transfer->message, "%s", text);
    return false;
}

const char *transfer_fault_name(enum transfer_fault fault) {
    static const char *const words[] = {
        [TRANSFER_DONE] = "",           [TRANSFER_DNS] = "dns",
        [TRANSFER_CONNECT] = "connect", [TRANSFER_TLS] = "tls",
        [TRANSFER_TIMEOUT] = "timeout", [TRANSFER_TOO_LARGE] = "too_large",
        [TRANSFER_REFUSED] = "refused", [TRANSFER_CANCELLED] = "cancelled",
    };
    return words[fault];
}

static size_t on_body(char *data, size_t one, size_t count, void *arg) {
    struct hop *hop = arg;
    struct transfer *transfer = hop->transfer;
    size_t size = one * count;
    hop->too_large = size > transfer->max - transfer->answer.size;
    if (hop->too_large)
        return 0;
    text_append(&transfer->answer, data, size);
    return transfer->answer.failed ? 0 : size;
}

/* Each answer begins with its status; one such as 100 comes before another. */
static size_t on_head(char *data, size_t one, size_t count, void *arg) {
    struct hop *hop = arg;
    struct text *head = &hop->transfer->head;
    size_t size = one * count;
    hop->head_size += size;
    hop->too_large = hop->head_size > HEAD_MAX;
    if (hop->too_large)
        return 0;
    bool first = size > 5 && memcmp(data, "HTTP/", 5) == 0;
    if (first)
        text_clear(head);
    else
        text_append(head, data, size);
    hop->in_head = size > 2;
    hop->has_head = !hop->in_head || (hop->has_head && !first);
    return head->failed ? 0 : size;
}

static bool may_reach(struct hop *hop, const struct sockaddr *address) {
    const struct transfer *transfer = hop->transfer;
    bool allowed = hop->allowed || reach_has_address(transfer->allow, address);
    return allowed && !reach_has_address(transfer->deny, address);
}

static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address) {
    struct hop *hop = arg;
    (void)purpose;
    hop->denied = !may_reach(hop, &address->addr);
    if (hop->denied)
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- what is sent ---- */

/* These alone go to another origin than the one that they were meant for. */
static bool is_harmless(const char *header) {
    static const char *const harmless[] = {
        "accept:", "accept-language:", "content-type:", "user-agent:", "traceparent:", NULL};
    for (size_t i = 0; harmless[i]; i++)
        if (strncasecmp(header, harmless[i], strlen(harmless[i])) == 0)
            return true;
    return false;
}

/* NULL: no memory. */
static struct curl_slist *headers_of(const struct hop *hop) {
    struct curl_slist *list = curl.slist_append(NULL, "Expect:");
    bool typed = false;
    for (const char *const *header = hop->transfer->headers; list && *header; header++) {
        if (hop->sheds && !is_harmless(*header))
            continue;
        typed = typed || strncasecmp(*header, "content-type:", 13) == 0;
        struct curl_slist *longer = curl.slist_append(list, *header);
        if (!longer)
            curl.slist_free_all(list);
        list = longer;
    }
    if (list && !typed)
        curl.slist_append(list, "Content-Type:"); /* else the library makes one up */
    return list;
}

static void set_method(CURL *easy, const struct hop *hop) {
    const struct transfer *transfer = hop->transfer;
    if (strcmp(hop->method, "HEAD") == 0) {
        curl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    if (hop->has_body) {
        curl.easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body ? transfer->body : "");
        curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body_size);
    }
    curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, hop->method);
}

static void set_limits(CURL *easy, struct hop *hop) {
    curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a name that is looked up holds nobody */
    curl.easy_setopt(easy, CURLOPT_PROXY, "");      /* whatever the environment says */
    curl.easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl.easy_setopt(easy, CURLOPT_USERAGENT, "moonshift/" MOONSHIFT_VERSION);
    curl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    curl.easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl.easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (hop->transfer->ca)
        curl.easy_setopt(easy, CURLOPT_CAINFO, hop->transfer->ca);
}

static void set_callbacks(CURL *easy, struct hop *hop) {
    curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, hop->words);
    curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl.easy_setopt(easy, CURLOPT_WRITEDATA, hop);
    curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    curl.easy_setopt(easy, CURLOPT_HEADERDATA, hop);
    curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, hop);
}

/* ---- how it ends ---- */

/* The URL without a user, a password and a query. */
static void show(const struct hop *hop, char text[URL_SHOWN]) {
    char *scheme = NULL, *port = NULL, *path = NULL;
    curl.url_get(hop->url, CURLUPART_SCHEME, &scheme, 0);
    curl.url_get(hop->url, CURLUPART_PORT, &port, 0);
    curl.url_get(hop->url, CURLUPART_PATH, &path, 0);
    snprintf(text, URL_SHOWN, "%s %s://%s%s%s%s", hop->method, scheme ? scheme : "", hop->host,
             port ? ":" : "", port ? port : "", path ? path : "");
    curl.free(scheme);
    curl.free(port);
    curl.free(path);
}

static enum transfer_fault fault_of(const struct hop *hop, CURLcode code) {
    static const struct {
        CURLcode code;
        enum transfer_fault fault;
    } faults[] = {
        {CURLE_COULDNT_RESOLVE_HOST, TRANSFER_DNS},  {CURLE_OPERATION_TIMEDOUT, TRANSFER_TIMEOUT},
        {CURLE_SSL_CONNECT_ERROR, TRANSFER_TLS},     {CURLE_PEER_FAILED_VERIFICATION, TRANSFER_TLS},
        {CURLE_SSL_CERTPROBLEM, TRANSFER_TLS},       {CURLE_SSL_CIPHER, TRANSFER_TLS},
        {CURLE_SSL_CACERT_BADFILE, TRANSFER_TLS},    {CURLE_SSL_ISSUER_ERROR, TRANSFER_TLS},
        {CURLE_SSL_INVALIDCERTSTATUS, TRANSFER_TLS}, {CURLE_USE_SSL_FAILED, TRANSFER_TLS},
    };
    if (hop->in_head && code == CURLE_OUT_OF_MEMORY) /* said of a line that is too long */
        return TRANSFER_TOO_LARGE;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].code == code)
            return faults[i].fault;
    return TRANSFER_CONNECT;
}

static bool end_badly(struct hop *hop, CURLcode code) {
    char url[URL_SHOWN];
    struct transfer *transfer = hop->transfer;
    show(hop, url);
    if (hop->too_large && hop->head_size > HEAD_MAX)
        return fail(transfer, TRANSFER_TOO_LARGE, "%s: a head of more than %zu bytes", url,
                    HEAD_MAX);
    if (hop->too_large)
        return fail(transfer, TRANSFER_TOO_LARGE, "%s: a body of more than %zu bytes (max)", url,
                    transfer->max);
    if (hop->denied)
        return fail(transfer, TRANSFER_REFUSED, "%s: its address is denied (http_allow, http_deny)",
                    url);
    return fail(transfer, fault_of(hop, code), "%s: %s", url,
                *hop->words ? hop->words : curl.easy_strerror(code));
}

/* The library takes a head that is cut off for one without a body. */
static bool end_early(struct hop *hop) {
    char url[URL_SHOWN];
    show(hop, url);
    return fail(hop->transfer, TRANSFER_CONNECT,
                "%s: the connection ended in the head of the answer", url);
}

static bool end_late(struct hop *hop) {
    char url[URL_SHOWN];
    show(hop, url);
    return fail(hop->transfer, TRANSFER_TIMEOUT, "%s: no answer within its timeout", url);
}

/* ---- waiting ---- */

static int rest_of(const struct transfer *transfer, time_ms deadline) {
    struct state *state = transfer->state;
    bool signalled = state->hook == HOOK_ON_SIGNAL && state->wakes;
    time_ms rest = clamp(deadline - clock_monotonic(), 0, 60000);
    return state_rest(state, signalled ? (int)rest : (int)clamp(rest, 0, SLICE));
}

/* Runs until the answer is there. False: it must end before that, or is too late. */
static bool drive(struct hop *hop, time_ms deadline) {
    struct state *state = hop->transfer->state;
    struct curl_waitfd woken = {.fd = state->wake, .events = CURL_WAIT_POLLIN};
    int running = 1;
    for (;;) {
        state_woken(state);
        if (state_due(state) != STOP_NONE)
            return fail(hop->transfer, TRANSFER_CANCELLED, "the run was cut off");
        curl.multi_perform(hop->kept->multi, &running);
        if (!running)
            return true;
        if (clock_monotonic() >= deadline)
            return end_late(hop);
        curl.multi_poll(hop->kept->multi, &woken, state->wakes, rest_of(hop->transfer, deadline),
                        NULL);
    }
}

static bool await(struct hop *hop, time_ms deadline) {
    int left;
    bool done = drive(hop, deadline);
    const CURLMsg *message = done ? curl.multi_info_read(hop->kept->multi, &left) : NULL;
    CURLcode code = message ? message->data.result : CURLE_FAILED_INIT;
    curl.multi_remove_handle(hop->kept->multi, hop->kept->easy);
    if (!done)
        return false;
    if (code != CURLE_OK)
        return end_badly(hop, code);
    if (!hop->has_head)
        return end_early(hop);
    curl.easy_getinfo(hop->kept->easy, CURLINFO_RESPONSE_CODE, &hop->transfer->status);
    return true;
}

static bool make_hop(struct hop *hop, time_ms deadline) {
    CURL *easy = hop->kept->easy;
    struct curl_slist *headers = headers_of(hop);
    if (!headers)
        return fail(hop->transfer, TRANSFER_CONNECT, "out of memory");
    curl.easy_reset(easy);
    set_limits(easy, hop);
    set_callbacks(easy, hop);
    set_method(easy, hop);
    curl.easy_setopt(easy, CURLOPT_CURLU, hop->url);
    curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    bool fine = curl.multi_add_handle(hop->kept->multi, easy) == CURLM_OK
                    ? await(hop, deadline)
                    : fail(hop->transfer, TRANSFER_CONNECT, "out of memory");
    curl.slist_free_all(headers);
    return fine;
}

/* ---- redirects ---- */

static bool has_origin(const CURLU *url, char origin[ORIGIN_SIZE]) {
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *of = (CURLU *)(uintptr_t)url;
    bool fine = curl.url_get(of, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl.url_get(of, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl.url_get(of, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    if (fine)
        snprintf(origin, ORIGIN_SIZE, "%s://%s:%s", scheme, host, port);
    curl.free(scheme);
    curl.free(host);
    curl.free(port);
    return fine;
}

static bool check_host(struct hop *hop) {
    struct transfer *transfer = hop->transfer;
    hop->allowed =
        json_array_size(transfer->allow) == 0 || reach_has_name(transfer->allow, hop->host);
    return !reach_has_name(transfer->deny, hop->host) ||
           fail(transfer, TRANSFER_REFUSED, "%s: the host is denied (http_deny)", hop->host);
}

/* What cannot be read may have a password anywhere before its query. */
static bool refuse_url(struct transfer *transfer, const char *url) {
    bool secret = strchr(url, '@') != NULL;
    return fail(transfer, TRANSFER_REFUSED, "url \"%.*s\": not a URL of http or https",
                secret ? 3 : (int)clamp((int64_t)strcspn(url, "?"), 0, 200), secret ? "…" : url);
}

/* Makes `url` the next one to be asked. */
static bool aim(struct hop *hop, const char *url) {
    char *scheme = NULL;
    curl.free(hop->host);
    hop->host = NULL;
    CURLUcode code = curl.url_set(hop->url, CURLUPART_URL, url, 0);
    if (code == CURLUE_OK)
        curl.url_get(hop->url, CURLUPART_SCHEME, &scheme, 0);
    bool web = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    curl.free(scheme);
    if (web && curl.url_get(hop->url, CURLUPART_HOST, &hop->host, 0) == CURLUE_OK)
        return check_host(hop);
    return refuse_url(hop->transfer, url);
}

static bool is_redirect(long status) {
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* As browsers do: after 303 the next request is a GET, and so it is after 301 and 302 to a POST. */
static void change_method(struct hop *hop, long status) {
    bool post = strcmp(hop->method, "POST") == 0, head = strcmp(hop->method, "HEAD") == 0;
    if ((status == 303 && !head) || (status <= 302 && post)) {
        hop->method = "GET";
        hop->has_body = false;
    }
}

/* True: there is another hop to be made. */
static bool goes_on(struct hop *hop, int redirects, const char *origin) {
    struct transfer *transfer = hop->transfer;
    char url[URL_SHOWN], *next = NULL, now[ORIGIN_SIZE] = "";
    if (!transfer->follow || !is_redirect(transfer->status))
        return false;
    curl.easy_getinfo(hop->kept->easy, CURLINFO_REDIRECT_URL, &next);
    if (!next)
        return false;
    show(hop, url);
    if (redirects == transfer->follow)
        return fail(transfer, TRANSFER_REFUSED, "%s: more than %d redirects (follow)", url,
                    transfer->follow);
    change_method(hop, transfer->status);
    if (!aim(hop, next))
        return false;
    hop->sheds = hop->sheds || !has_origin(hop->url, now) || strcmp(now, origin) != 0;
    transfer_clear(transfer);
    hop->head_size = 0;
    hop->denied = hop->too_large = hop->in_head = hop->has_head = false;
    return true;
}

static bool needs_body(const struct transfer *transfer) {
    static const char *const methods[] = {"POST", "PUT", "PATCH", NULL};
    return transfer->body || is_one_of(transfer->method, methods);
}

static void make_hops(struct hop *hop) {
    struct transfer *transfer = hop->transfer;
    time_ms deadline = clock_monotonic() + transfer->timeout;
    char origin[ORIGIN_SIZE] = "";
    if (!aim(hop, transfer->url))
        return;
    has_origin(hop->url, origin);
    for (int redirects = 0; make_hop(hop, deadline) && goes_on(hop, redirects, origin);)
        redirects++;
}

void transfer_run(struct transfer *transfer) {
    struct hop hop = {
        .transfer = transfer, .method = transfer->method, .has_body = needs_body(transfer)};
    transfer->fault = TRANSFER_DONE;
    if (!load_once(transfer->message, sizeof transfer->message)) {
        transfer->fault = TRANSFER_CONNECT;
        return;
    }
    hop.kept = transfers_of(transfer->state);
    hop.url = hop.kept ? curl.url() : NULL;
    if (!hop.url) {
        fail(transfer, TRANSFER_CONNECT, "out of memory");
        return;
    }
    bool held = thread_hold_pipes();
    make_hops(&hop);
    curl.easy_reset(hop.kept->easy); /* it points to what goes now */
    thread_release_pipes(held);
    curl.free(hop.host);
    curl.url_cleanup(hop.url);
}

void transfer_clear(struct transfer *transfer) {
    text_clear(&transfer->head);
    text_clear(&transfer->answer);
}
