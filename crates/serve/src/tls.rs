//! TLS: the keys and certificates of a server.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The security of connections.
#[derive(Clone, Default)]
pub enum Security {
    /// Any client may connect, without encryption.
    #[default]
    Plain,
    /// Clients must use TLS, and learn nothing before it is negotiated (`FORCEDTLS`).
    Tls(Arc<ServerConfig>),
}

/// The files of a server with TLS, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and the authority.
    pub certificate: PathBuf,
    /// The private key of the server's certificate.
    pub key: PathBuf,
    /// The authority that has signed the clients' certificates; without it, clients need none.
    pub client_authority: Option<PathBuf>,
}

/// The reason why files do not make a server with TLS.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum TlsError {
    /// A file can't be read, or does not hold the expected PEM section.
    #[error("{path}: {source}")]
    Pem { path: PathBuf, source: rustls::pki_types::pem::Error },
    /// A file holds no certificate.
    #[error("{path}: no certificate in it; it should hold one in PEM")]
    NoCertificate { path: PathBuf },
    /// A certificate can't be used.
    #[error("{path}: {source}")]
    Unusable { path: PathBuf, source: rustls::Error },
    /// The authority can't be used.
    #[error("{path}: {source}")]
    Authority { path: PathBuf, source: rustls::server::VerifierBuilderError },
}

impl Security {
    /// Requires TLS, with the certificates in these files.
    pub fn from_files(files: &TlsFiles) -> Result<Security, TlsError> {
        let certificates = certificates(&files.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|source| TlsError::Pem { path: files.key.clone(), source })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let unusable = |source| TlsError::Unusable { path: files.certificate.clone(), source };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let builder = match &files.client_authority {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in self::certificates(path)? {
                    roots.add(certificate).map_err(|source| TlsError::Unusable { path: path.clone(), source })?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|source| TlsError::Authority { path: path.clone(), source })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        Ok(Security::Tls(Arc::new(builder.with_single_cert(certificates, key).map_err(unusable)?)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = |source| TlsError::Pem { path: path.to_path_buf(), source };
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(pem)?.collect();
    match found.map_err(pem)? {
        certificates if certificates.is_empty() => Err(TlsError::NoCertificate { path: path.to_path_buf() }),
        certificates => Ok(certificates),
    }
}
