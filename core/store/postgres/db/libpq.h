/* libpq.h - libpq, which is loaded when the first store on a server is named. With the twenty
 * libraries that it brings along it takes longer to load than a command on a file takes otherwise.
 */
#pragma once

#include "base/error.h"
#include <libpq-fe.h>

/* All functions that are called. */
/* clang-format off */
#define LIBPQ(F) \
    F(PQbackendPID) F(PQcancel) F(PQclear) F(PQcmdTuples) F(PQconndefaults) F(PQconnectPoll) \
    F(PQconnectStartParams) F(PQconnectdbParams) F(PQconnectionNeedsPassword) F(PQconninfoFree) \
    F(PQconninfoParse) F(PQconsumeInput) F(PQenterPipelineMode) F(PQerrorMessage) F(PQexec) \
    F(PQexitPipelineMode) F(PQfinish) F(PQflush) F(PQfreeCancel) F(PQfreemem) F(PQftype) F(PQgetCancel) \
    F(PQgetResult) F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQisBusy) F(PQnfields) \
    F(PQnotifies) F(PQntuples) F(PQparameterStatus) F(PQpipelineStatus) F(PQpipelineSync) \
    F(PQresultErrorField) F(PQresultErrorMessage) F(PQresultStatus) F(PQsendPrepare) \
    F(PQsendQuery) F(PQsendQueryParams) F(PQsendQueryPrepared) F(PQserverVersion) F(PQsetErrorVerbosity) \
    F(PQsetNoticeReceiver) F(PQsocket) F(PQstatus)
/* clang-format on */

#define LIBPQ_POINTER(name) __typeof__(name) *name;

struct libpq {
    LIBPQ(LIBPQ_POINTER)
};

extern struct libpq libpq;

/* Loads it, once for the process. To be called before any other function of it. */
bool libpq_load(struct error *error);

#define PQbackendPID libpq.PQbackendPID
#define PQcancel libpq.PQcancel
#define PQclear libpq.PQclear
#define PQcmdTuples libpq.PQcmdTuples
#define PQconndefaults libpq.PQconndefaults
#define PQconnectPoll libpq.PQconnectPoll
#define PQconnectStartParams libpq.PQconnectStartParams
#define PQconnectdbParams libpq.PQconnectdbParams
#define PQconnectionNeedsPassword libpq.PQconnectionNeedsPassword
#define PQconninfoFree libpq.PQconninfoFree
#define PQconninfoParse libpq.PQconninfoParse
#define PQconsumeInput libpq.PQconsumeInput
#define PQenterPipelineMode libpq.PQenterPipelineMode
#define PQerrorMessage libpq.PQerrorMessage
#define PQexec libpq.PQexec
#define PQexitPipelineMode libpq.PQexitPipelineMode
#define PQfinish libpq.PQfinish
#define PQflush libpq.PQflush
#define PQfreeCancel libpq.PQfreeCancel
#define PQfreemem libpq.PQfreemem
#define PQftype libpq.PQftype
#define PQgetCancel libpq.PQgetCancel
#define PQgetResult libpq.PQgetResult
#define PQgetisnull libpq.PQgetisnull
#define PQgetlength libpq.PQgetlength
#define PQgetvalue libpq.PQgetvalue
#define PQisBusy libpq.PQisBusy
#define PQnfields libpq.PQnfields
#define PQnotifies libpq.PQnotifies
#define PQntuples libpq.PQntuples
#define PQparameterStatus libpq.PQparameterStatus
#define PQpipelineStatus libpq.PQpipelineStatus
#define PQpipelineSync libpq.PQpipelineSync
#define PQresultErrorField libpq.PQresultErrorField
#define PQresultErrorMessage libpq.PQresultErrorMessage
#define PQresultStatus libpq.PQresultStatus
#define PQsendPrepare libpq.PQsendPrepare
#define PQsendQuery libpq.PQsendQuery
#define PQsendQueryParams libpq.PQsendQueryParams
#define PQsendQueryPrepared libpq.PQsendQueryPrepared
#define PQserverVersion libpq.PQserverVersion
#define PQsetErrorVerbosity libpq.PQsetErrorVerbosity
#define PQsetNoticeReceiver libpq.PQsetNoticeReceiver
#define PQsocket libpq.PQsocket
#define PQstatus libpq.PQstatus
