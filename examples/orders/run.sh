#!/bin/sh
# The orders example from an empty store to its report: run.sh [WORKERS [DIRECTORY]]. The store and
# the ledger lie in DIRECTORY (a new temporary one unless it is given).
# STORE is the URL of another store.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
lua=${LUA:-lua5.4}
workers=${1:-4}
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-orders.XXXXXX")}
store=${STORE:-sqlite:$work/orders.db}

say() {
  printf '\n== %s\n' "$1"
}

round() {
  "$moonshift" run "$here" --store "$store" --workers "$workers" --drain --log-level error
  "$moonshift" stats --store "$store" | grep -E '^(HANDLER|import|pay) '
}

waiting() {
  "$moonshift" job list --store "$store" --limit 1 --json | grep -q '"id"'
}

say "enqueue the import of 1 000 orders: one job"
"$moonshift" enqueue import -C "$here" --store "$store" \
  "{\"file\":\"$here/orders.csv\",\"ledger\":\"$work/ledger.csv\"}"

say "run what is due, with $workers workers: the import, then the orders it made"
round
set -- 0.6 1.1 2.1
while waiting; do
  say "declined orders wait for their retry in the store; ${1:-0.5} s later"
  sleep "${1:-0.5}"
  [ $# = 0 ] || shift
  round
done

say "the report: $work/ledger.csv against orders.csv"
"$lua" "$here/report" "$here/orders.csv" "$work/ledger.csv"
