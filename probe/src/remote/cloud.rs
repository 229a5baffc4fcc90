//! Object stores as places: S3 and what speaks its protocol, Google Cloud Storage, Azure Blob
//! Storage. Where they are and by which right, the environment says.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fpprobe_reports::inventory::ReportFile;
use fpprobe_reports::limited::ReadFile;
use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, RetryConfig,
};

use super::address::{Address, Destination, NOT_BUILT};
use super::delivery::Delivery;
use super::http::{REQUEST, StoreHttp};
use super::place::{ObjectPlace, RemoteError};

/// Pause before the second attempt; each further one is longer, at random, up to the longest.
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// How long attempts at one request go on, the deadline aside.
const ATTEMPTS: Duration = Duration::from_secs(30);

/// A bucket, or what begins with a prefix in it. With a deadline all that is done ends by then;
/// else each request has a limit of its own.
pub struct CloudStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    http: StoreHttp,
    deadline: Option<Instant>,
}

/// Opens one; nothing is sent yet.
pub fn open(to: &Destination, deadline: Option<Instant>) -> Result<CloudStore, RemoteError> {
    let Address::Bucket { scheme, bucket, prefix } = &to.address else {
        return Err(RemoteError::refused(NOT_BUILT));
    };
    let http = StoreHttp::new(deadline);
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let retry = RetryConfig {
        backoff: BackoffConfig { init_backoff: PAUSE, max_backoff: LONGEST, base: 2.0 },
        max_retries: usize::MAX,
        retry_timeout: left.map_or(REQUEST, |left| left.min(ATTEMPTS)),
    };
    let (built, variables) = match *scheme {
        "s3" => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
            let builder = builder.with_retry(retry).with_http_connector(http.clone());
            (builder.build().map(shared), "AWS_*, such as AWS_REGION and AWS_ENDPOINT_URL")
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            let builder = builder.with_retry(retry).with_http_connector(http.clone());
            (builder.build().map(shared), "GOOGLE_*, such as GOOGLE_SERVICE_ACCOUNT")
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
            let builder = builder.with_retry(retry).with_http_connector(http.clone());
            (builder.build().map(shared), "AZURE_*, such as AZURE_STORAGE_ACCOUNT_NAME")
        }
    };
    let store = built.map_err(|_| {
        let why = http.failure().map_or_else(String::new, |why| format!(" ({why})"));
        RemoteError::refused(format!(
            "the environment does not say how to reach it{why}: look at {variables}"
        ))
    })?;
    let prefix = Path::parse(prefix)
        .map_err(|_| RemoteError::refused("what follows its bucket names no objects"))?;
    Ok(CloudStore { store, prefix, http, deadline })
}

/// The addresses of all objects in one, and how they are read.
pub fn objects(from: &Destination) -> Result<(Vec<PathBuf>, Arc<ReadFile>), RemoteError> {
    let store = open(from, None)?;
    let names = store.list()?;
    let root = PathBuf::from(from.to_string());
    let above = root.clone();
    let read: Arc<ReadFile> = Arc::new(move |path: &std::path::Path, limit| {
        let name = path.strip_prefix(&above).unwrap_or(path).to_string_lossy();
        Ok(store.get(&name, limit)?)
    });
    Ok((names.iter().map(|name| root.join(name)).collect(), read))
}

/// The reports in one, and what may be reports.
pub fn report_files(from: &Destination) -> Result<Vec<ReportFile>, RemoteError> {
    let (paths, read) = objects(from)?;
    // Lines of gates are many: they are not fetched to see that they are no reports.
    let files = paths
        .into_iter()
        .filter(|path| ReportFile::is_named(path) && !Delivery::is_other_document(path));
    Ok(files.map(|path| ReportFile::new(path, Arc::clone(&read))).collect())
}

fn shared(store: impl ObjectStore) -> Arc<dyn ObjectStore> {
    Arc::new(store)
}

impl CloudStore {
    /// Waits for something, until the deadline.
    fn wait<T>(
        &self,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, RemoteError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let left = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let limited = async {
            match left {
                Some(left) => tokio::time::timeout(left, future).await.ok(),
                None => Some(future.await),
            }
        };
        let late = || {
            let why = self.http.failure().map_or_else(String::new, |why| format!(" ({why})"));
            RemoteError::refused(format!("there was no time left{why}"))
        };
        runtime.block_on(limited).ok_or_else(late)
    }

    /// The place of a name; what a store lists is taken as it is.
    fn place(&self, name: &str) -> Path {
        let prefix = self.prefix.as_ref();
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        Path::parse(&name).unwrap_or_else(|_| Path::from(name))
    }

    /// An error without what a store or its client says of it.
    fn failed(&self, error: &Error) -> RemoteError {
        let (kind, otherwise) = match error {
            Error::NotFound { .. } => (io::ErrorKind::NotFound, "it is not there"),
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                (io::ErrorKind::PermissionDenied, "it is not allowed")
            }
            _ => (io::ErrorKind::Other, "the client failed, perhaps for want of credentials"),
        };
        let text = self.http.failure().unwrap_or_else(|| otherwise.to_owned());
        RemoteError { text, is_everywhere: !self.http.is_of_object(), kind }
    }
}

impl ObjectPlace for CloudStore {
    fn create(&self, name: &str, bytes: Vec<u8>) -> Result<(), RemoteError> {
        let (place, payload) = (self.place(name), bytes::Bytes::from(bytes));
        let put = |mode: PutMode| {
            let options = PutOptions { mode, ..PutOptions::default() };
            self.wait(self.store.put_opts(&place, payload.clone().into(), options))
        };
        match put(PutMode::Create)? {
            Ok(_) | Err(Error::AlreadyExists { .. }) => Ok(()),
            // Without conditions, as where AWS_CONDITIONAL_PUT=disabled: the same name has the same
            // bytes.
            Err(Error::NotImplemented { .. }) => match self.wait(self.store.head(&place))? {
                Ok(_) => Ok(()),
                Err(Error::NotFound { .. }) => {
                    put(PutMode::Overwrite)?.map(drop).map_err(|error| self.failed(&error))
                }
                Err(error) => Err(self.failed(&error)),
            },
            Err(error) => Err(self.failed(&error)),
        }
    }
}

impl CloudStore {
    /// The names of all objects.
    pub fn list(&self) -> Result<Vec<String>, RemoteError> {
        let prefix = (!self.prefix.as_ref().is_empty()).then_some(&self.prefix);
        let all = self.wait(self.store.list(prefix).try_collect::<Vec<_>>())?;
        let all = all.map_err(|error| self.failed(&error))?;
        let name = |at: Path| {
            let parts = at.prefix_match(&self.prefix)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        let mut names: Vec<String> =
            all.into_iter().filter_map(|object| name(object.location)).collect();
        names.sort();
        Ok(names)
    }

    /// The bytes of an object, at most `limit`.
    pub fn get(&self, name: &str, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let place = self.place(name);
        let get = async {
            let found = self.store.get(&place).await?;
            if found.meta.size > limit {
                return Ok(None);
            }
            found.bytes().await.map(Some)
        };
        match self.wait(get)?.map_err(|error| self.failed(&error))? {
            Some(bytes) => Ok(bytes.into()),
            None => Err(RemoteError {
                text: format!("it has more than {limit} bytes, the most that it may have"),
                is_everywhere: false,
                kind: io::ErrorKind::FileTooLarge,
            }),
        }
    }
}
