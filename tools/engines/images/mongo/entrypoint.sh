#!/bin/bash
# Serves the MongoDB protocol from FerretDB on PostgreSQL. Listens once it can really answer.
# Takes of mongod's arguments those that say how connections are encrypted; other commands are run as they are. With
# MONGO_INITDB_ROOT_USERNAME and MONGO_INITDB_ROOT_PASSWORD (or …_FILE) clients sign in, otherwise nobody does.
set -eu
case ${1:-mongod} in
  mongod | -*) ;;
  *) exec "$@" ;;
esac
data=/data/db/postgres
template=/usr/local/share/kith/cluster
sockets=/tmp
# As root it becomes the user of the packages; as any other it stays that.
if [ "$(id -u)" = 0 ]; then
  as_postgres() { exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
else
  as_postgres() { exec "$@"; }
fi

certificate=
for argument in "$@"; do
  case $argument in
    --tlsCertificateKeyFile=*) certificate=${argument#*=} ;;
  esac
done
root=${MONGO_INITDB_ROOT_USERNAME:-}
password=${MONGO_INITDB_ROOT_PASSWORD:-}
[ -z "${MONGO_INITDB_ROOT_PASSWORD_FILE:-}" ] || password=$(cat "$MONGO_INITDB_ROOT_PASSWORD_FILE")

# Two servers on one folder would destroy it, and across containers their process ids can't tell them apart.
exec 9> /data/db/.lock
flock -n 9 || { echo '/data/db is in use by another container' >&2; exit 1; }

# Renamed when whole: a first start that was killed begins anew.
if [ ! -d "$data" ]; then
  rm -rf "$data.new"
  if [ "$(id -u)" = 0 ]; then cp -a "$template" "$data.new"; else cp -r "$template" "$data.new"; fi
  chmod 700 "$data.new"
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

(as_postgres postgres -D "$data" -c config_file=/etc/kith/postgresql.conf -c unix_socket_directories=$sockets) &
postgres=$!
until pg_isready -q -U postgres -h $sockets; do
  kill -0 "$postgres" 2> /dev/null || stop 1
  sleep 0.1
done

# FerretDB's users are PostgreSQL's. It knows no roles: each may do everything (docs/transport.md).
sql() { psql -At -h $sockets -U postgres -d postgres -v ON_ERROR_STOP=1; }
if [ -n "$root" ] && [ "$(sql <<< "SELECT count(*) FROM pg_roles WHERE rolname = '$root'")" = 0 ]; then
  roles='[{"role":"readWriteAnyDatabase","db":"admin"},{"role":"clusterAdmin","db":"admin"}]'
  sql > /dev/null <<< "SELECT documentdb_api.create_user('{\"createUser\":\"$root\",\"pwd\":\"$password\",\"roles\":$roles}')"
fi

mkdir -p /data/db/ferretdb
[ "$(id -u)" != 0 ] || chown postgres:postgres /data/db/ferretdb
listen=(--listen-addr=0.0.0.0:27017)
[ -z "$certificate" ] || listen=(--listen-addr=- --listen-tls=0.0.0.0:27017
  --listen-tls-cert-file="$certificate" --listen-tls-key-file="$certificate")
[ -n "$root" ] || listen+=(--no-auth)
(as_postgres ferretdb "${listen[@]}" --debug-addr=- --telemetry=disable \
  --state-dir=/data/db/ferretdb --log-level=WARN \
  --postgresql-url='postgres://postgres@127.0.0.1:5432/postgres?pool_max_conns=90') &
ferretdb=$!

# Neither is of use without the other.
wait -n || true
echo 'postgres or ferretdb ended' >&2
stop 1
