#!/bin/sh
# Counts words, one job at a time, with curl and jq.
#
#   MOONSHIFT_URL=http://127.0.0.1:8080 MOONSHIFT_TOKEN=ms_… worker.sh [JOBS]
set -eu
url=${MOONSHIFT_URL:-http://127.0.0.1:8080}
worker=shell-$(hostname)-$$
left=${1:--1}

ask() {
  curl -sS --fail-with-body -H "Content-Type: application/json" \
    ${MOONSHIFT_TOKEN:+-H "Authorization: Bearer $MOONSHIFT_TOKEN"} -d "$2" "$url$1"
}

while [ "$left" -ne 0 ]; do
  jobs=$(ask /v1/fetch "{\"worker\":\"$worker\",\"topics\":[\"wordcount\"],\"lock\":\"PT1M\",\"wait\":\"${WAIT:-PT20S}\"}")
  job=$(printf %s "$jobs" | jq -c '.jobs[0] // empty')
  left=$((left - 1))
  [ -n "$job" ] || continue
  words=$(printf %s "$job" | jq -r .payload.text | wc -w)
  back=$(printf %s "$job" | jq -c --arg worker "$worker" --argjson words "$words" \
    '{worker: $worker, outcomes: [{id, token, outcome: "complete", result: {words: $words}}]}')
  ask /v1/settle "$back" | jq -r '.outcomes[] | "\(.id) \(.message // .outcome)"'
done
