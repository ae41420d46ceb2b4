/* claim.h - what a folder that is deployed does to a newer one of its name. */
#pragma once

enum deployment_claim {
    CLAIM_UNLESS_LIVE, /* that counts if a live executor has it; else this one does */
    CLAIM_ALWAYS,      /* this one counts */
    CLAIM_NEVER        /* what counts goes on; only one that the store has not seen counts */
};
