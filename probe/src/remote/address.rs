//! Addresses of places, and what is refused of them.

use std::fmt;
use std::path::{Path, PathBuf};

use fpprobe_system::usage::usage_error;

/// Why a build without object stores refuses them.
pub const NOT_BUILT: &str = "this build of fpprobe has no object stores, only folders and file://; the Debian package and the \
    container image have them, and so has `cargo build --features object-store`";

/// Where results go, or come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// As it was named, without a slash at the end.
    text: String,
    /// What it means.
    pub address: Address,
}

/// What an address means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket, or a container, of an object store.
    Bucket {
        /// `s3`, `gs` or `az`.
        scheme: &'static str,
        /// Its name.
        bucket: String,
        /// What the names of all objects begin with: names and slashes, perhaps empty.
        prefix: String,
    },
}

impl Destination {
    /// The place that a path of the command line or the configuration names, if that is an address.
    /// Credentials in it are refused; no message repeats them.
    pub fn named(path: &Path) -> anyhow::Result<Option<Destination>> {
        let Some(destination) = Destination::parse(&path.to_string_lossy()) else {
            return Ok(None);
        };
        let destination = destination.map_err(usage_error)?;
        let is_bucket = matches!(destination.address, Address::Bucket { .. });
        if is_bucket && !cfg!(feature = "object-store") {
            return Err(usage_error(format!("{destination}: {NOT_BUILT}")));
        }
        Ok(Some(destination))
    }

    /// The same of a text, of whatever build; `None` where it is no address.
    pub fn parse(text: &str) -> Option<Result<Destination, String>> {
        let (scheme, rest) = text.split_once("://")?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
        is_scheme.then(|| Destination::checked(text, scheme, rest))
    }

    fn checked(text: &str, scheme: &str, rest: &str) -> Result<Destination, String> {
        // Beyond the scheme nothing is repeated: it may be a secret.
        let refused = |why: &str| Err(format!("an address {scheme}://... {why}"));
        if rest.contains(['@', '?', '#']) {
            return refused(
                "has no user, password, query or fragment: credentials come from the environment (AWS_*, GOOGLE_*, AZURE_*)",
            );
        }
        let rest = rest.trim_end_matches('/');
        let is_plain = |part: &str| !["", ".", ".."].contains(&part);
        if rest.contains(|c: char| c.is_control() || "%\\*".contains(c)) {
            return refused("has no %, \\, * or control characters");
        }
        let (first, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if !prefix.split('/').all(is_plain) && !prefix.is_empty() {
            return refused("has no empty names, `.` or `..` between slashes");
        }
        let address = match ["s3", "gs", "az"].into_iter().find(|known| *known == scheme) {
            None if scheme == "file"
                && !prefix.is_empty()
                && ["", "localhost"].contains(&first) =>
            {
                Address::Folder(Path::new("/").join(prefix))
            }
            None if scheme == "file" => return refused("is an absolute path: file:///srv/fleet"),
            None => return refused("has no scheme that fpprobe writes to: file, s3, gs or az"),
            Some(_) if first.is_empty() => return refused("begins with a bucket or container"),
            Some(scheme) => {
                Address::Bucket { scheme, bucket: first.to_owned(), prefix: prefix.to_owned() }
            }
        };
        Ok(Destination { text: text.trim_end_matches('/').to_owned(), address })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let bucket = |scheme, prefix: &str| Address::Bucket {
            scheme,
            bucket: "fleet".to_owned(),
            prefix: prefix.to_owned(),
        };
        for (text, address) in [
            ("s3://fleet", bucket("s3", "")),
            ("gs://fleet/a/b/", bucket("gs", "a/b")),
            ("az://fleet/a", bucket("az", "a")),
            ("file:///srv/fleet/", Address::Folder("/srv/fleet".into())),
            ("file://localhost/srv", Address::Folder("/srv".into())),
        ] {
            assert_eq!(Destination::parse(text).unwrap().unwrap().address, address, "{text}");
        }
        for text in ["report.json", "out/", "/srv/a://b", "://x", "a b://c", ""] {
            assert_eq!(Destination::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_refused_and_not_repeated() {
        for text in [
            "s3://SECRET:SECRET@fleet/a",
            "s3://fleet/SECRET@b",
            "az://fleet?sig=SECRET",
            "https://SECRET.example/a",
            "s3:///SECRET",
            "s3://fleet//SECRET",
            "s3://fleet/../SECRET",
            "gs://fleet/%SECRET",
            "file://SECRET/srv",
            "file://",
        ] {
            let message = Destination::parse(text).unwrap().unwrap_err();
            assert!(!message.contains("SECRET"), "{message}");
        }
    }
}
