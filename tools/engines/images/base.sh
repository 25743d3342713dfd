#!/bin/sh
# Makes the Debian image the offline engine images start from, out of the distribution's packages.
# MIRROR: a Debian package mirror (read from the machine's own apt sources). TAG, LABEL: of the image.
set -eu
: "${MIRROR:?MIRROR must name a Debian package mirror}" "${TAG:?}" "${LABEL:?}"
# Debian 13's successor is the first release with DocumentDB for PostgreSQL. Its script is sid's where
# this machine's debootstrap is older than its name.
suite=forky
script=sid

root=$(mktemp -d)
# Unmounts what an interrupted debootstrap may have left, so that rm never reaches into /proc.
cleanup() {
  umount -l "$root/proc" "$root/sys" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
chmod 755 "$root"

debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$MIRROR" "$script"

# A mirror may serve a snapshot whose signature is past its date.
echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/90snapshot"
printf 'path-exclude=/usr/share/%s/*\n' doc man info locale > "$root/etc/dpkg/dpkg.cfg.d/lean"
echo 'path-include=/usr/share/doc/*/copyright' >> "$root/etc/dpkg/dpkg.cfg.d/lean"
# A mirror behind TLS may be signed by an authority that only this machine knows.
case $MIRROR in
  https:*) cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt" ;;
esac

rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* \
  "$root"/usr/share/man/* "$root"/usr/share/info/* "$root"/usr/share/locale/*
find "$root/usr/share/doc" -type f ! -name copyright -delete

tar -C "$root" --numeric-owner --exclude=./proc/* --exclude=./sys/* --exclude=./dev/* -c . |
  docker import --change "LABEL $LABEL" --change 'CMD ["bash"]' --change 'ENV LANG=C.UTF-8' - "$TAG"
