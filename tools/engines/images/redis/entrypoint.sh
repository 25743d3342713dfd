#!/bin/sh
# Takes the same commands as the official image's entry point.
set -e
case ${1:-} in
  -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "$1" = redis-server ]; then
  # Without a configuration file Redis answers its own host only; who may reach a container is the network's to say.
  set -- "$@" --protected-mode no
  if [ "$(id -u)" = 0 ]; then
    chown -R redis:redis /data
    exec setpriv --reuid=redis --regid=redis --clear-groups "$@"
  fi
fi
exec "$@"
