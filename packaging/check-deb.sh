#!/bin/bash
# check-deb.sh DEB: lintian has no error, and on a fresh Debian the package installs, its command works, systemd starts a
# card at boot (in a container, where the machine allows one), and the package goes without leaving anything behind.
# Needs root, debootstrap and a mirror of Debian.
set -euo pipefail

deb=$(realpath "$1")
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
# What of Debian's rules a package that is in no archive need not follow.
not_here=bogus-mail-host

say() { echo "deb-check: $*"; }

if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --suppress-tags "$not_here" "$deb"
    say 'lintian finds no error'
fi
if [ "$(id -u)" != 0 ]; then
    say 'SKIPPED: installing it into a fresh Debian needs root'
    exit 0
fi
command -v debootstrap >/dev/null || { say 'debootstrap is missing: apt-get install debootstrap'; exit 1; }

work=$(mktemp -d)
root=$work/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,init-system-helpers "$suite" "$root" "$mirror" >"$work/log" 2>&1 \
    || { tail "$work/log"; exit 1; }
within() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"; }
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \
    -o -path ./tmp -o -path ./run -o -path ./root \) -prune -o -print | LC_ALL=C sort); }
mount -t proc proc "$root/proc"
files >"$work/before"
cp "$deb" "$root/tmp/flashrig.deb"
within apt-get install -y -qq --no-install-recommends /tmp/flashrig.deb >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
within dpkg -V flashrig
say "installed: $(within flashrig --version)"

within flashrig cards | grep -q tachion-400
[ -s "$root/usr/share/man/man1/flashrig.1.gz" ]
within bash -n /usr/share/bash-completion/completions/flashrig
within flashrig show /usr/share/flashrig/cards/tachion-400.toml >/dev/null
cmp "$root/usr/share/flashrig/grafana-dashboard.json" "$(dirname "$0")/grafana-dashboard.json"
within flashrig create /var/lib/flashrig/mine --size 64MiB >/dev/null
within systemctl enable flashrig@mine 2>/dev/null
within systemd-analyze verify --man=no /lib/systemd/system/flashrig@.service
say 'the command, its pages, a card and its unit are there'

umount "$root/proc"
# The container asks the card when it has booted, and goes.
cat >"$root/etc/systemd/system/asked.service" <<'END'
[Unit]
After=flashrig@mine.service

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for i in $(seq 1 120); do flashrig ctl /run/flashrig/mine/control.sock status >/answer 2>&1 && break; sleep 0.5; done; systemctl status flashrig@mine >/unit 2>&1; systemctl --no-block poweroff'

[Install]
WantedBy=multi-user.target
END
within systemctl enable asked 2>/dev/null
if command -v systemd-nspawn >/dev/null \
    && timeout 20 systemd-nspawn -q -D "$root" --register=no --keep-unit /bin/true >/dev/null 2>&1; then
    timeout 180 systemd-nspawn -q -b -D "$root" --register=no --keep-unit >"$work/log" 2>&1 </dev/null || true
    grep -q ': well' "$root/answer" || { tail -n 20 "$work/log"; cat "$root/answer" "$root/unit"; exit 1; }
    say "booted, and the card answers: $(head -n 1 "$root/answer")"
else
    say 'SKIPPED: booting it needs systemd-nspawn (apt-get install systemd-container), and a machine that lets it run'
fi

mount -t proc proc "$root/proc"
within systemctl disable asked flashrig@mine 2>/dev/null || true
rm -rf "$root/etc/systemd/system/asked.service" "$root/answer" "$root/unit"
within apt-get purge -y -qq flashrig >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
[ -s "$root/var/lib/flashrig/mine/card.toml" ] || { say 'the card is gone with the package'; exit 1; }
rm -r "$root/var/lib/flashrig"
within apt-get autoremove -y -qq --purge >/dev/null 2>&1
files >"$work/after"
# What a boot leaves is not the package's.
if left=$(comm -13 "$work/before" "$work/after" | grep flashrig); then
    say "left behind: $left"
    exit 1
fi
say 'removed: nothing is left but the card, which was kept'
