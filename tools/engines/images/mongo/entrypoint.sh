#!/bin/bash
# Serves the MongoDB protocol with FerretDB on PostgreSQL. Begins to listen only when it can answer.
# Of mongod's arguments, only --tlsCertificateKeyFile has an effect. Other commands run unchanged. If MONGO_INITDB_ROOT_USERNAME
# and MONGO_INITDB_ROOT_PASSWORD (or …_FILE) are set, clients have to sign in. Otherwise everyone has access.
set -eu
case ${1:-mongod} in
  mongod | -*) ;;
  *) exec "$@" ;;
esac
data=/data/db/postgres
template=/usr/local/share/kith/cluster
sockets=/tmp
# As root, PostgreSQL and FerretDB run as the packages' user postgres. As any other user, they run as this user.
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

# Two servers would destroy a folder that they share. Process ids cannot show this, because each container has its own.
exec 9> /data/db/.lock
flock -n 9 || { echo '/data/db is in use by another container' >&2; exit 1; }

# The copy gets its final name only when it is complete. So if the first start is killed, the next start makes a new copy.
if [ ! -d "$data" ]; then
  rm -rf "$data.new"
  if [ "$(id -u)" = 0 ]; then cp -a "$template" "$data.new"; else cp -r "$template" "$data.new"; fi
  chmod 700 "$data.new"
  sync -f "$data.new"
  mv "$data.new" "$data"
fi
# A killed server leaves this file. In a new container, another process may have the file's process id. No other server is
# running, because this one holds the lock.
rm -f "$data/postmaster.pid"

postgres=
ferretdb=
stop() {
  trap '' TERM INT
  # On SIGTERM, FerretDB would wait until its clients disconnect. SIGKILL loses nothing, because PostgreSQL has all acknowledged
  # changes.
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

# FerretDB's users are the users of PostgreSQL. FerretDB has no roles, so each user may do everything (docs/transport.md).
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

# If one of them ends, the other one is useless, so the container ends.
wait -n || true
echo 'postgres or ferretdb ended' >&2
stop 1
