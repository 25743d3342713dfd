#!/bin/bash
# Makes the empty cluster with its extension once, while the image is built, so that a new container starts in a second.
set -euo pipefail
template=/usr/local/share/kith/cluster
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

install -d -o postgres -g postgres /data/db /run/postgresql "$(dirname "$template")"
as_postgres initdb -D "$template" -U postgres -E UTF8 --locale=C.UTF-8 --no-sync
as_postgres pg_ctl -w -D "$template" -o '-c config_file=/etc/kith/postgresql.conf' start
as_postgres psql -h /run/postgresql -d postgres -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION documentdb CASCADE'
as_postgres pg_ctl -w -D "$template" -m fast stop
# A container may run as any user, which copies it.
chmod -R a+rX "$template"
