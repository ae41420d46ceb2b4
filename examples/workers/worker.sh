#!/bin/sh
# Counts words, one job at a time, with curl and jq.
#
#   JOBS_URL=http://127.0.0.1:8080 JOBS_TOKEN=ms_… worker.sh [JOBS]
set -eu
url=${JOBS_URL:-http://127.0.0.1:8080}
worker=shell-$(hostname)-$$
left=${1:--1} said=$(mktemp) asking='' renewing='' waits=''
trap 'rm -f "$said"; kill $asking $renewing 2>/dev/null || :' EXIT
trap 'left=0; [ -z "$waits" ] || exit 0' TERM # behind the present job

# In a process of its own.
ask_once() {
  exec curl -sS --fail-with-body -H "Content-Type: application/json" \
    ${JOBS_TOKEN:+-H "Authorization: Bearer $JOBS_TOKEN"} -d "$2" "$url$1"
}

# A random part of so many seconds.
part() {
  awk -v most="$1" -v seed="$(od -An -N3 -tu4 /dev/urandom)" 'BEGIN { srand(seed); print rand() * most }'
}

# Asks until the server answers: the pauses double up to a minute. What it refuses is not asked again.
ask() {
  pause=1
  until ask_once "$1" "$2" >"$said" & asking=$!; wait "$asking" || wait "$asking"; do
    jq -se '.[0].status // 500 | . < 500 and . != 429' "$said" >/dev/null 2>&1 && return 1
    echo "away" >&2
    sleep "$(part $pause)"
    pause=$((pause < 32 ? pause * 2 : 60))
  done
  asking=''
}

# Keeps the lock of the job with this path and token.
renew() {
  while sleep "${RENEW:-20}"; do
    (ask_once "$1/extend" "{\"token\":$2,\"lock\":\"PT1M\"}") || :
  done
}

next="{\"worker\":\"$worker\",\"topics\":[\"wordcount\"],\"lock\":\"PT1M\",\"wait\":\"${WAIT:-PT20S}\"}"
while [ "$left" -ne 0 ]; do
  left=$((left - 1))
  waits=1
  ask /v1/fetch "$next"
  waits=''
  job=$(jq -c '.jobs[0] // empty' "$said")
  [ -n "$job" ] || continue
  renew "/v1/jobs/$(printf %s "$job" | jq .id)" "$(printf %s "$job" | jq .token)" >/dev/null 2>&1 & renewing=$!
  sleep "$(printf %s "$job" | jq '.payload.seconds // 0')" & wait $! || wait $! || :
  words=$(printf %s "$job" | jq -r .payload.text | wc -w)
  back=$(printf %s "$job" | jq -c --arg worker "$worker" --argjson words "$words" \
    '{worker: $worker, outcomes: [{id, token, outcome: "complete", result: {words: $words}}]}')
  kill "$renewing" && renewing=''
  ask /v1/settle "$back"
  jq -r '.outcomes[] | "\(.id) \(.message // .outcome)"' "$said"
done
