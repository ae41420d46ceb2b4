#!/bin/sh
# The orders example from an empty store to its report: run.sh [WORKERS [DIRECTORY]]. The store and
# the ledger lie in DIRECTORY (a new temporary one unless it is given).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
lua=${LUA:-lua5.4}
workers=${1:-4}
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-orders.XXXXXX")}
store=sqlite:$work/orders.db

say() {
  printf '\n== %s\n' "$1"
}

waiting() {
  "$moonshift" job list --store "$store" --limit 1 --json | grep -q '"id"'
}

say "enqueue the import of 1 000 orders"
"$moonshift" enqueue import -C "$here" --store "$store" \
  "{\"file\":\"$here/orders.csv\",\"ledger\":\"$work/ledger.csv\"}"

say "run what is due, with $workers workers; declined orders wait for their retry in the store"
while
  "$moonshift" run "$here" --store "$store" --workers "$workers" --drain
  waiting
do
  "$moonshift" stats --store "$store"
  sleep 0.4
  say "and again: what was declined is due, or soon will be"
done

say "the report: $work/ledger.csv against orders.csv"
"$lua" "$here/report.lua" "$here/orders.csv" "$work/ledger.csv"
