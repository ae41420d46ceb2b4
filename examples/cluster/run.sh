#!/bin/sh
# A cluster on one machine: run.sh [JOBS [DIRECTORY]]. Starts a PostgreSQL server with a synchronous
# standby in DIRECTORY (a new temporary one unless it is given) and three executors. PAGE: how many
# jobs each takes at once. While they work it kills an executor, then the server, and promotes the
# standby. At the end nothing is lost.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
jobs=${1:-20000}
programs=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)")
executors=

refuse() {
  echo "run.sh: $2" >&2
  exit "$1"
}

# The one that is named, that is installed, or that was built here.
find_program() {
  path=$(command -v "${MOONSHIFT:-moonshift}") || path=
  [ -n "$path" ] || [ -n "${MOONSHIFT:-}" ] ||
    path=$(command -v "$here/../../build/moonshift") || return 1
  [ -n "$path" ] && echo "$(cd "$(dirname "$path")" && pwd)/$(basename "$path")"
}

say() {
  printf '\n== %s\n' "$1"
}

case $jobs in
'' | *[!0-9]* | 0*) refuse 2 "jobs \"$jobs\": expected a number" ;;
esac
[ "$programs" != . ] ||
  refuse 69 "no PostgreSQL server (expected /usr/lib/postgresql/*/bin/initdb, package postgresql)"
moonshift=$(find_program) ||
  refuse 69 "no program ${MOONSHIFT:-moonshift} (expected it in PATH, in MOONSHIFT or in build/)"
work=${2:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-cluster.XXXXXX")}

# A server refuses to run as root.
as_server() {
  if [ "$(id -u)" = 0 ]; then
    (cd "$work" && runuser -u postgres -- "$@")
  else
    "$@"
  fi
}

# Each server has a socket in a folder of its own, and needs no port of the machine.
server() {
  as_server "$programs/pg_ctl" -D "$work/$1/data" -l "$work/$1/log" -w -t 120 "$2" \
    -o "-k $work/$1 -c listen_addresses=''" >"$work/$1/pg_ctl" 2>&1
}

stop_all() {
  for executor in $executors; do
    { kill "$executor" && wait "$executor"; } 2>/dev/null || true
  done
  for name in first second; do
    as_server "$programs/pg_ctl" -D "$work/$name/data" -m immediate stop >/dev/null 2>&1 || true
  done
}

# The databases are large; the ledger and the logs stay.
end() {
  status=$?
  stop_all
  [ "$status" = 0 ] || echo "run.sh: ended with $status, see the logs in $work" >&2
  [ "$status" != 0 ] || rm -rf "$work/first/data" "$work/second/data"
}
trap end EXIT

ask() {
  "$moonshift" "$@" -C "$here" --store "$store"
}

# Asks every tenth of a second, for two minutes.
await() {
  what=$1
  shift
  for _ in $(seq 1200); do
    ! "$@" || return 0
    sleep 0.1
  done
  echo "waited two minutes for $what" >&2
  exit 1
}

count() {
  ask stats --json 2>/dev/null | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" | head -n 1
}

half_done() {
  [ "$(sort -u -t, -k1,1 "$work/ledger.csv" 2>/dev/null | wc -l)" -ge $((jobs * $1 / 4)) ]
}

none_left() {
  [ "$(ask job list --json --limit 1 2>/dev/null)" = "[]" ]
}

start_executor() {
  "$moonshift" run "$here" --store "$store" --name "$1" --priority-range "$2" --log-level warn \
    --state-dir "$work" --page "${PAGE:-2000}" 2>"$work/$1.log" &
  executors="$executors $!"
  eval "$1=$!"
}

say "a server and a standby that has every commit before it is acknowledged"
mkdir -p "$work/first" "$work/second"
chmod 755 "$work"
[ "$(id -u)" != 0 ] || chown -R postgres "$work"
as_server "$programs/initdb" -D "$work/first/data" -U owner -A trust -E UTF8 --locale=C >/dev/null
server first start
as_server "$programs/pg_basebackup" -h "$work/first" -U owner -D "$work/second/data" -R -X stream \
  -d "application_name=second host=$work/first user=owner"
server second start
as_server "$programs/psql" -q -h "$work/first" -U owner -d postgres \
  -c "ALTER SYSTEM SET synchronous_standby_names = 'second'" -c "SELECT pg_reload_conf()" >/dev/null
store="postgres://owner@/postgres?host=$work/first,$work/second&target_session_attrs=read-write"
touch "$work/ledger.csv"

say "$jobs jobs"
seq "$jobs" | awk -v ledger="$work/ledger.csv" '{
    printf "{\"handler\":\"charge\",\"priority\":%d,\"lane\":\"account %d\",", $1 % 10, $1 % 500
    printf "\"payload\":{\"account\":%d,\"cents\":%d,", $1 % 500, $1 % 97
    printf "\"ledger\":\"%s\"}}\n", ledger
  }' >"$work/jobs.json"
ask enqueue --from "$work/jobs.json"

say "three executors: one takes all priorities, one the high ones, one the low ones"
start_executor every :
start_executor high 5:
start_executor low :4

await "a quarter of the jobs" half_done 1
say "the executor of all priorities is killed"
kill -9 "$every"
await "half of the jobs" half_done 2
say "the server is killed, and the standby promoted"
as_server "$programs/pg_ctl" -D "$work/first/data" -m immediate stop >/dev/null
as_server "$programs/pg_ctl" -D "$work/second/data" -w promote >/dev/null
await "the end of all jobs" none_left

say "the report: what the store and $work/ledger.csv say"
ask stats | head -n 7
sort -u -t, -k1,1 "$work/ledger.csv" |
  awk -F, -v jobs="$jobs" -v calls="$(wc -l <"$work/ledger.csv")" '
    { cents += $3 }
    END {
      for (i = 1; i <= jobs; i++) due += i % 97
      printf "jobs charged   %d of %d\ncents          %d of %d\n", NR, jobs, cents, due
      printf "calls again    %d\n", calls - NR
      if (NR != jobs || cents != due) { print "something was LOST"; exit 1 }
      print "nothing was lost"
    }'
