#!/bin/sh
# Accepts the same commands as the entry point of the official image.
set -e
case ${1:-} in
  -*) set -- nats-server "$@" ;;
esac
exec "$@"
