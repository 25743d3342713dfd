#!/bin/sh
# Accepts the same commands as the entry point of the official image.
set -e
case ${1:-} in
  -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "$1" = redis-server ]; then
  # In protected mode, Redis without a password would answer only clients in its own container. Here, the network decides who may
  # reach the container.
  set -- "$@" --protected-mode no
  if [ "$(id -u)" = 0 ]; then
    chown -R redis:redis /data
    exec setpriv --reuid=redis --regid=redis --clear-groups "$@"
  fi
fi
exec "$@"
