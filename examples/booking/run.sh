#!/bin/sh
# Two trips to their end, one of which is paid with a stolen card: run.sh [DIRECTORY]. The store and
# the pictures lie in DIRECTORY, a new temporary one unless it is given. STORE is the URL of another
# store.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
moonshift=${MOONSHIFT:-moonshift}
work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/moonshift-booking.XXXXXX")}
store=${STORE:-sqlite:$work/trips.db}

m() {
  "$moonshift" "$@" -C "$here" --store "$store"
}

ann=$(m process start trip --key t-1 guest=ann card=good price=900)
bob=$(m process start trip --key t-2 guest=bob card=stolen price=900)
"$moonshift" run "$here" --workers 1 --store "$store" --drain --log-level error

for id in "$ann" "$bob"; do
  echo "trip $id:"
  m instance picture "$id" --heat --text
  m instance picture "$id" --heat >"$work/trip-$id.svg"
done
echo "what handlers printed:"
m log --outcome successful --json | grep -o '"lines":\[[^]]*\]' | sort
