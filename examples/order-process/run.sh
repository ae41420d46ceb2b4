#!/bin/sh
# The order process from an empty store to its report: run.sh [WORKERS [DIRECTORY]]. The store and
# the ledger lie in DIRECTORY (a new temporary one unless it is given).
# STORE is the URL of another store.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
lua=${LUA:-lua5.4}
workers=${1:-2}
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-order-process.XXXXXX")}
store=${STORE:-sqlite:$work/orders.db}
executor=

say() {
  printf '\n== %s\n' "$1"
}

stop() {
  [ -z "$1" ] || { kill "$1" && wait "$1"; } 2>/dev/null || true
}
trap 'stop "$executor"' EXIT

# Asks every tenth of a second, for a minute.
await() {
  what=$1
  shift
  for _ in $(seq 600); do
    ! "$@" || return 0
    sleep 0.1
  done
  echo "waited a minute for $what" >&2
  exit 1
}

m() {
  verb=$1
  word=$2
  shift 2
  "$moonshift" "$verb" "$word" -C "$here" --store "$store" "$@"
}

# The ids of the rows that a verb lists.
ids_of() {
  "$@" --json --columns id | grep -o '[0-9]\+'
}

# True once the order of this process waits for its clerk; `task` is the task.
task_is_there() {
  task=$(ids_of m task list --instance "$1")
}

all_ended() {
  ! ids_of m instance list >"$work/left"
}

say "an executor with $workers workers runs the jobs of the processes"
"$moonshift" run "$here" --store "$store" --workers "$workers" --log-level error \
  2>"$work/run.log" &
executor=$!

say "each order is started twice: by the model, and by the process in words"
tail -n +2 "$here/orders.csv" >"$work/orders"
while IFS=, read -r order sku cents card patience answer path; do
  for process in order order_in_words; do
    id=$(m process start "$process" --key "$order" "sku=$sku" "cents=$cents" "card=$card" \
      "patience=$patience" "ledger=$work/ledger.csv")
    echo "$process $order is instance $id, which should end as $path"
  done
done <"$work/orders"

say "orders of 1000 or more wait for the clerk; he answers all but one, whose timer rings"
while IFS=, read -r order sku cents card patience answer path; do
  [ -n "$answer" ] || continue
  approved=false
  [ "$answer" = no ] || approved=true
  for process in order order_in_words; do
    instance=$(ids_of m instance list --process "$process" --key "$order")
    await "the task of $order" task_is_there "$instance"
    m instance why "$instance"
    m task complete "$task" "approved=$approved"
  done
done <"$work/orders"

await "the end of all instances" all_ended
stop "$executor"
executor=

say "the report: what the instances and $work/ledger.csv say, against orders.csv"
m instance list --ended --json --columns process,key,how,variables --limit 100 >"$work/ended"
"$lua" "$here/report" "$here/orders.csv" "$work/ended" "$work/ledger.csv"
