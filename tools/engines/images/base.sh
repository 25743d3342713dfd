#!/bin/sh
# Makes the Debian image that the offline engine images are based on, from the distribution's packages.
# MIRROR is a Debian package mirror, read from the machine's own apt sources. TAG and LABEL are the image's.
set -eu
: "${MIRROR:?MIRROR must name a Debian package mirror}" "${TAG:?}" "${LABEL:?}"
# Forky, the release after Debian 13, is the first one with DocumentDB for PostgreSQL. An older debootstrap has no script for
# forky, so this uses the script of sid.
suite=forky
script=sid

root=$(mktemp -d)
# Unmounts what an interrupted debootstrap may have left mounted, so that rm never deletes anything in /proc.
cleanup() {
  umount -l "$root/proc" "$root/sys" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
chmod 755 "$root"

debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$MIRROR" "$script"

# A mirror may serve a snapshot. The date in its signature may have passed.
echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/90snapshot"
printf 'path-exclude=/usr/share/%s/*\n' doc man info locale > "$root/etc/dpkg/dpkg.cfg.d/lean"
echo 'path-include=/usr/share/doc/*/copyright' >> "$root/etc/dpkg/dpkg.cfg.d/lean"
# The certificate of an https mirror may come from an authority that only this machine trusts.
case $MIRROR in
  https:*) cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt" ;;
esac

rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* \
  "$root"/usr/share/man/* "$root"/usr/share/info/* "$root"/usr/share/locale/*
find "$root/usr/share/doc" -type f ! -name copyright -delete

tar -C "$root" --numeric-owner --exclude=./proc/* --exclude=./sys/* --exclude=./dev/* -c . |
  docker import --change "LABEL $LABEL" --change 'CMD ["bash"]' --change 'ENV LANG=C.UTF-8' - "$TAG"
