#!/bin/sh
# usage: debootstrap.sh SUITE ROOT PACKAGES ARCHIVE MASKED_UNITS [MIRROR]
# The part of images.py that needs root: bootstrap, trim, pack.
set -eu
PATH=$PATH:/usr/sbin:/sbin
suite=$1 root=$2 packages=$3 archive=$4 masked=$5 mirror=${6:-}

chmod 0755 "$root"
debootstrap --variant=minbase --include="$packages" "$suite" "$root" ${mirror:+"$mirror"} |
    grep -E '^(W|E): |^I: (Base system|Installing core|Configuring systemd\.)' || true
# `|| true` above is for grep alone: whether the bootstrap worked shows here.
[ -x "$root/sbin/init" ] && [ ! -d "$root/debootstrap" ] || { cat "$root/debootstrap/debootstrap.log" >&2; exit 1; }

for unit in $masked; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
# Host keys are made at the first start: no two containers may share them, nor a machine id.
mkdir -p "$root/etc/systemd/system/ssh.service.d"
printf '[Service]\nExecStartPre=\nExecStartPre=/usr/bin/ssh-keygen -A\nExecStartPre=/usr/sbin/sshd -t\n' \
    >"$root/etc/systemd/system/ssh.service.d/host-keys.conf"
rm -f "$root"/etc/ssh/ssh_host_* "$root/etc/machine-id" "$root/var/lib/dbus/machine-id"
: >"$root/etc/machine-id"
# A server has no package lists that could be relied on; the archives are only weight.
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/*
mkdir -p "$root/var/lib/apt/lists/partial"
rm -f "$root/etc/resolv.conf" "$root/etc/hostname"
tar --create --file "$archive" --numeric-owner --directory "$root" .
chown "$(stat -c %u:%g "$(dirname "$archive")")" "$archive"
