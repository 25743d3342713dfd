#!/bin/sh
# Compiles FerretDB into the given folder. Uses the machine's Go or, with --in-container, the distribution's Go in a container.
# PACKAGE is the Go package and its version. BASE is the image to compile in.
set -eu
: "${PACKAGE:?}" "${BASE:?}"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

if [ "${2:-}" = --in-container ]; then
  context=$(mktemp -d)
  trap 'rm -rf "$context"' EXIT
  cp "$here/Dockerfile" "$context/"
  cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$context/ca-certificates.crt"
  docker build --network host -t kith-offline/ferretdb-compiled:1 --build-arg "BASE=$BASE" --build-arg "PACKAGE=$PACKAGE" \
    --build-arg GOPROXY --build-arg GOSUMDB --build-arg GONOSUMDB --build-arg GOPRIVATE "$context"
  container=$(docker create kith-offline/ferretdb-compiled:1)
  docker cp "$container:/ferretdb" "$out/ferretdb"
  docker rm "$container"
  docker rmi kith-offline/ferretdb-compiled:1
else
  CGO_ENABLED=0 GOBIN="$out" go install -trimpath -ldflags='-s -w' "$PACKAGE"
fi
