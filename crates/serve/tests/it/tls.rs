//! TLS with real clients and real certificates.

use crate::common::{Served, client, served, succeeds};
use serve::{Limits, Security, TlsFiles};
use std::path::Path;

/// An authority, and what it has signed for a server and for a client, in the folder layout that libnbd reads.
fn certificates(dir: &Path) {
    let script = r#"
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=authority" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -keyout ca-key.pem -out ca-cert.pem
sign() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" -keyout "$1-key.pem" -out "$1.csr"
    printf 'subjectAltName=DNS:localhost\nextendedKeyUsage=%sAuth\n' "$1" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile "$1.ext" -out "$1-cert.pem"
}
sign server
sign client
mkdir other && cd other
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=another" -keyout client-key.pem -out client-cert.pem
cp ../ca-cert.pem .
"#;
    let made = std::process::Command::new("bash").args(["-c", script]).current_dir(dir).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn with_tls(clients_need_certificates: bool) -> (Served, tempfile::TempDir) {
    let keys = tempfile::tempdir().unwrap();
    certificates(keys.path());
    let file = |name: &str| keys.path().join(name);
    let security = Security::from_files(&TlsFiles {
        certificate: file("server-cert.pem"),
        key: file("server-key.pem"),
        client_authority: clients_need_certificates.then(|| file("ca-cert.pem")),
    })
    .unwrap();
    (served(64 << 20, security, Limits::default()), keys)
}

fn connect(served: &Served, certificates: &Path, then: &str) -> String {
    format!(
        "h.set_tls(nbd.TLS_REQUIRE)\nh.set_tls_certificates('{}')\n\
         h.set_export_name('card')\nh.connect_unix('{}')\n{then}",
        certificates.display(),
        served.socket().display()
    )
}

#[test]
fn clients_with_tls_are_served_and_others_learn_nothing() {
    let (served, keys) = with_tls(false);
    let work = "assert h.get_tls_negotiated()\nh.pwrite(b'x' * (4 << 20), 4096)\nassert h.pread(4 << 20, 4096) == b'x' * (4 << 20)\nh.flush()";
    succeeds("nbdsh", "python3-libnbd", &["-c", &connect(&served, keys.path(), work)]);
    let plain = client("nbdinfo", "libnbd-bin", &[&served.uri()]);
    let text = format!("{}{}", String::from_utf8_lossy(&plain.stdout), String::from_utf8_lossy(&plain.stderr));
    assert!(!plain.status.success(), "{text}");
    assert!(!String::from_utf8_lossy(&plain.stdout).contains("67108864"), "{text}");
    assert!(!client("nbdinfo", "libnbd-bin", &["--list", &served.uri()]).status.success());
}

#[test]
fn only_clients_with_a_certificate_of_the_authority_are_served_where_it_is_asked_for() {
    let (served, keys) = with_tls(true);
    let work = "h.pwrite(b'x' * 4096, 0)\nassert h.pread(4096, 0) == b'x' * 4096";
    succeeds("nbdsh", "python3-libnbd", &["-c", &connect(&served, keys.path(), work)]);
    let other = connect(&served, &keys.path().join("other"), work);
    assert!(!client("nbdsh", "python3-libnbd", &["-c", &other]).status.success());
    std::fs::create_dir(keys.path().join("none")).unwrap();
    std::fs::copy(keys.path().join("ca-cert.pem"), keys.path().join("none/ca-cert.pem")).unwrap();
    let none = connect(&served, &keys.path().join("none"), work);
    assert!(!client("nbdsh", "python3-libnbd", &["-c", &none]).status.success());
    // And the good one still is.
    succeeds("nbdsh", "python3-libnbd", &["-c", &connect(&served, keys.path(), work)]);
}

#[test]
fn files_that_are_no_certificates_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let files = TlsFiles { certificate: empty.clone(), key: empty.clone(), client_authority: None };
    let error = Security::from_files(&files).err().expect("refused").to_string();
    assert!(error.contains("empty.pem") && error.contains("no certificate"), "{error}");
    let files = TlsFiles { certificate: dir.path().join("missing.pem"), ..files };
    let error = Security::from_files(&files).err().expect("refused").to_string();
    assert!(error.contains("missing.pem"), "{error}");
}
