#!/bin/sh
# Takes the same commands as the official image's entry point.
set -e
case ${1:-} in
  -*) set -- nats-server "$@" ;;
esac
exec "$@"
