#!/bin/bash
# build-deb.sh FLASHRIG SBOM OUT: a Debian package of the command at this path, for the system that this is; prints its
# path. The same sources and command give the same package.
set -euo pipefail

flashrig=$(realpath "$1") sbom=$(realpath "$2") out=$3
sources=$(realpath "$(dirname "$0")/..")
version=$("$flashrig" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
maintainer='The Flashrig authors <maintainers@flashrig.invalid>'
# The day of the newest change, by git or by the file of changes where there is no git.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$sources" log -1 --format=%ct 2>/dev/null \
    || stat -c %Y "$sources/CHANGELOG.md")}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022

install -D -m 755 "$flashrig" "$root/usr/bin/flashrig"
"$flashrig" man --out "$work/man" >/dev/null
for page in "$work"/man/*.1; do
    install -d "$root/usr/share/man/man1"
    gzip -9n <"$page" >"$root/usr/share/man/man1/$(basename "$page").gz"
done
completions() {
    install -d "$root/$2"
    "$flashrig" completions "$1" >"$root/$2/$3"
}
completions bash usr/share/bash-completion/completions flashrig
completions zsh usr/share/zsh/vendor-completions _flashrig
completions fish usr/share/fish/vendor_completions.d flashrig.fish
install -d "$root/lib/systemd/system" "$root/var/lib/flashrig"
sed 's|/usr/local/bin/|/usr/bin/|' "$sources/packaging/flashrig@.service" >"$root/lib/systemd/system/flashrig@.service"
install -D -m 644 -t "$root/usr/share/flashrig/cards" "$sources"/cards/*.toml
install -D -m 644 -t "$root/usr/share/flashrig/hosts" "$sources"/hosts/*.toml
install -D -m 644 -t "$root/usr/share/flashrig" "$sources/packaging/grafana-dashboard.json"

doc=$root/usr/share/doc/flashrig
install -D -m 644 -t "$doc" "$sources/README.md" "$sources/docs/control-api.md"
install -m 644 "$sbom" "$doc/sbom.cdx.json"
gzip -9n <"$sources/CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
printf 'flashrig (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -uR -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
{
    cat <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: flashrig
Comment: The command contains other people's libraries, all of which are free software. sbom.cdx.json beside this file
 names each with its version and its licence.

Files: *
Copyright: 2026 The Flashrig authors
License: Apache-2.0 or Expat

License: Apache-2.0
 /usr/share/common-licenses/Apache-2.0 is the text of this licence.

License: Expat
END
    sed -n '/^Permission/,$p' "$sources/LICENSE-MIT" | sed 's/^$/./; s/^/ /'
} >"$doc/copyright"

# What the command needs of the system, by the libraries that it is linked with.
mkdir -p "$work/debian"
printf 'Source: flashrig\n\nPackage: flashrig\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -e"$root/usr/bin/flashrig" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: flashrig
Version: $version
Section: admin
Priority: optional
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" "$root/lib" | awk '{ sum += $1 } END { print sum }')
Depends: ${depends:-libc6}
Pre-Depends: init-system-helpers (>= 1.54~)
Recommends: fuse3, smartmontools
Suggests: fio, nbd-client, postgresql
Description: review, model and run flash storage
 Flashrig reviews a disk, a file or the model of a card as a storage reviewer
 does, and says what it is good for. It models cards of the past and drives of
 today, fits a model to a disk that was reviewed, and asks it what-if questions.
 It also runs such a card over files, drives or memory as a block device, with
 modules that can be pulled while it works.
END
cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
# A card is started at boot when it is asked for: systemctl enable --now flashrig@NAME.
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
END
cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
# Cards that are served go on through an upgrade: hosts use them. Without the command they end in order.
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop 'flashrig@*.service' >/dev/null || true
fi
END
cat >"$root/DEBIAN/postrm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
# Cards in /var/lib/flashrig stay, also when all of the package goes: they are somebody's data.
if [ "$1" = purge ]; then
    rm -f /etc/systemd/system/multi-user.target.wants/flashrig@*.service
fi
END
chmod 755 "$root"/DEBIAN/p*
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$out"
package=$out/flashrig_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
