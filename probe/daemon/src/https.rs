//! Who may vouch for addresses that begin with `https://`: the certificates of a file.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use fpprobe_reports::limited;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Bytes that certificates may have.
const AUTHORITIES: u64 = 4 << 20;

/// The certificates of a PEM file; an error where it has none.
pub fn trusted(authorities: &Path) -> anyhow::Result<RootCerts> {
    let file = authorities.display();
    let text = limited::bytes(authorities, AUTHORITIES)
        .with_context(|| format!("failed to read {file}"))?;
    let certificates: Vec<Certificate<'_>> = parse_pem(&text)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
        .collect::<Result<_, _>>()
        .with_context(|| format!("{file} is no PEM"))?;
    anyhow::ensure!(!certificates.is_empty(), "{file} holds no certificate in PEM");
    Ok(RootCerts::new_with_certs(&certificates))
}

/// TLS for which these vouch.
pub fn tls(authorities: &Path) -> anyhow::Result<TlsConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().root_certs(trusted(authorities)?);
    Ok(tls.unversioned_rustls_crypto_provider(provider).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_certificates() {
        let says =
            |authorities: &str| format!("{:#}", trusted(Path::new(authorities)).unwrap_err());
        assert!(says("/dev/null").contains("holds no certificate"));
        assert!(says("/nowhere").contains("failed to read /nowhere"));
    }
}
