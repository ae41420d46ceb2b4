/* members.h - the parameters, the bodies and the answers that routes have (routes.c): names, types,
 * and a sentence for each. Each list ends with a member without a name. */
#pragma once

#include "http/api/route.h"

/* What a request may or must have, in its query or its body. */
extern const struct member all_members[], job_members[], events_members[], dates_members[],
    picture_members[], start_members[], cancel_members[], set_members[], trigger_members[],
    modify_members[], migrate_members[], restart_members[], plan_members[], complete_members[],
    throw_members[], escalate_members[], message_members[], signal_members[], conditions_members[],
    execute_members[], batch_members[], token_members[], fetch_members[], settle_members[],
    work_complete_members[], work_fail_members[], work_error_members[], work_snooze_members[],
    work_extend_members[], work_release_members[], work_progress_members[];

/* What an answer has that is no row of a list. */
extern const struct member created_told[], verb_told[], order_told[], count_told[], stack_told[],
    fetch_told[], settle_told[], verdict_told[], execution_told[], batch_told[], token_told[],
    revoked_told[];
