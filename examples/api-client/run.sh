#!/bin/sh
# The API client example from an empty store to its report: run.sh [WORKERS [DIRECTORY]]. The store
# and the server's log lie in DIRECTORY (a new temporary one unless it is given).
# STORE is the URL of another store.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
lua=${LUA:-lua5.4}
python=${PYTHON:-python3}

need() {
  command -v "$1" >/dev/null || { echo "api-client needs $1 for $2, found none" >&2; exit 1; }
}
need "$python" "its server"

workers=${1:-4}
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-api-client.XXXXXX")}
store=${STORE:-sqlite:$work/jobs.db}
server=
executor=

say() {
  printf '\n== %s\n' "$1"
}

stop() {
  [ -z "$1" ] || { kill "$1" && wait "$1"; } 2>/dev/null || true
}
trap 'stop "$executor"; stop "$server"' EXIT

# Asks every tenth of a second, for 30 seconds.
await() {
  what=$1
  shift
  for _ in $(seq 300); do
    ! "$@" || return 0
    sleep 0.1
  done
  echo "waited 30 s for $what" >&2
  exit 1
}

all_done() {
  "$moonshift" job list --store "$store" --limit 1 --json >"$work/left"
  ! grep -q '"id"' "$work/left"
}

say "the server, which is overloaded now and then"
"$python" "$here/server.py" "$work/requests.log" "$work/port" &
server=$!
await "the server" test -f "$work/port"
INVOICE_API=127.0.0.1:$(cat "$work/port")
export INVOICE_API
echo "http://$INVOICE_API/invoices"

say "45 invoices are enqueued, then the same ones again"
"$lua" "$here/generate" >"$work/invoices"
"$moonshift" enqueue -C "$here" --store "$store" --from "$work/invoices"
"$moonshift" enqueue -C "$here" --store "$store" --from "$work/invoices" --json | \
  tee "$work/enqueued"

say "an executor with $workers workers sends them, as fast as it may"
"$moonshift" run "$here" --store "$store" --workers "$workers" --log-level error \
  2>"$work/run.log" &
executor=$!
await "the end of all jobs" all_done
stop "$executor"
executor=
"$moonshift" stats --store "$store" | grep -E '^(HANDLER|push_invoice) '

say "the report: what $work/requests.log says"
"$lua" "$here/report" "$work/requests.log" "$work/enqueued"
