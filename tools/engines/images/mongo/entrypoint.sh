#!/bin/bash
# Serves the MongoDB protocol from FerretDB on PostgreSQL. Listens once it can really answer.
# mongod's own arguments are accepted and mean nothing here; any other command is run as it is.
set -eu
case ${1:-mongod} in
  mongod | -*) ;;
  *) exec "$@" ;;
esac
data=/data/db/postgres
template=/usr/local/share/kith/cluster
as_postgres() { exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

# Two servers on one folder would destroy it, and across containers their process ids can't tell them apart.
exec 9> /data/db/.lock
flock -n 9 || { echo '/data/db is in use by another container' >&2; exit 1; }

# Renamed when whole: a first start that was killed begins anew.
if [ ! -d "$data" ]; then
  rm -rf "$data.new"
  cp -a "$template" "$data.new"
  sync -f "$data.new"
  mv "$data.new" "$data"
fi
# Left by a kill; in a new container its process id may belong to anyone. The lock above has ruled out a live one.
rm -f "$data/postmaster.pid"

postgres=
ferretdb=
stop() {
  trap '' TERM INT
  # FerretDB waits for its clients to leave; all they are owed is that what was acknowledged is kept.
  [ -z "$ferretdb" ] || kill -KILL "$ferretdb" 2> /dev/null || true
  [ -z "$postgres" ] || kill -INT "$postgres" 2> /dev/null || true
  wait || true
  exit "$1"
}
trap 'stop 0' TERM INT

(as_postgres postgres -D "$data" -c config_file=/etc/kith/postgresql.conf) &
postgres=$!
until pg_isready -q -U postgres -h /run/postgresql; do
  kill -0 "$postgres" 2> /dev/null || stop 1
  sleep 0.1
done

install -d -o postgres -g postgres /data/db/ferretdb
(as_postgres ferretdb --listen-addr=0.0.0.0:27017 --debug-addr=- --no-auth --telemetry=disable \
  --state-dir=/data/db/ferretdb --log-level=WARN \
  --postgresql-url='postgres://postgres@127.0.0.1:5432/postgres?pool_max_conns=90') &
ferretdb=$!

# Neither is of use without the other.
wait -n || true
echo 'postgres or ferretdb ended' >&2
stop 1
