#!/bin/bash
# Makes an empty cluster with its extension while the image is built, so that a new container starts within a second.
set -euo pipefail
template=/usr/local/share/kith/cluster
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

install -d -o postgres -g postgres /data/db /run/postgresql "$(dirname "$template")"
as_postgres initdb -D "$template" -U postgres -E UTF8 --locale=C.UTF-8 --no-sync
as_postgres pg_ctl -w -D "$template" -o '-c config_file=/etc/kith/postgresql.conf' start
as_postgres psql -h /run/postgresql -d postgres -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION documentdb CASCADE'
as_postgres pg_ctl -w -D "$template" -m fast stop
# A container may run as any user, and this user copies the cluster.
chmod -R a+rX "$template"
