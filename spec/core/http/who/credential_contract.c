/* credential_contract.c - the token in a header `Authorization`. */
#include "../../store/contract.h"
#include "http/who/credential.h"

static bool is(const char *header, const char *expected) {
    char token[CREDENTIAL_SIZE];
    return credential_read(header, token) && strcmp(token, expected) == 0;
}

static bool refused(const char *header) {
    char token[CREDENTIAL_SIZE];
    return !credential_read(header, token);
}

static void bearer(struct contract *c) {
    EXPECT(is("Bearer ms_1", "ms_1"));
    EXPECT(is("bearer   ms_1", "ms_1"));
}

static void basic(struct contract *c) {
    EXPECT(is("Basic YW55Om1zXzE=", "ms_1"));
    EXPECT(is("Basic Om1zXzE=", "ms_1"));
    EXPECT(is("basic YTpiOmM=", "b:c"));
}

static void others(struct contract *c) {
    EXPECT(refused(NULL) && refused("") && refused("Bearer") && refused("Bearer "));
    EXPECT(refused("Bearerms_1") && refused("Digest ms_1"));
    EXPECT(refused("Basic bXNfMQ==") && refused("Basic YTp=!") && refused("Basic YToA"));
}

static void too_long(struct contract *c) {
    char header[4 * CREDENTIAL_SIZE] = "Bearer ";
    memset(header + 7, 'a', CREDENTIAL_SIZE);
    EXPECT(refused(header));
    memcpy(header, "Basic ", 6);
    memset(header + 6, 'A', sizeof header - 7);
    EXPECT(refused(header));
}

static const struct check checks[] = {
    {"a bearer shows it", bearer},
    {"Basic has it as the password, whatever the user", basic},
    {"what shows none is refused", others},
    {"what is too long is refused", too_long},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
