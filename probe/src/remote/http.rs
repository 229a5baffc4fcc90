//! The HTTP client of object stores: the daemon's, which blocks and keeps to a time.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpprobe_daemon::https;
use fpprobe_reports::model::SIZE_LIMIT;
use fpprobe_system::folders::AUTHORITIES;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use ureq::Agent;
use ureq::http::{Method, Request, StatusCode, header};

/// How long one request may take, where there is no deadline.
pub const REQUEST: Duration = Duration::from_mins(2);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest code of a response that is repeated.
const CODE: usize = 64;

/// Makes clients, and remembers how the last request failed.
#[derive(Clone, Debug)]
pub struct StoreHttp {
    deadline: Option<Instant>,
    last: Arc<Mutex<Option<RequestFailure>>>,
}

/// How a request failed, in words that quote neither it nor the response.
#[derive(Clone, Debug)]
struct RequestFailure {
    text: String,
    status: Option<StatusCode>,
}

impl StoreHttp {
    /// Of requests that end by the deadline.
    pub fn new(deadline: Option<Instant>) -> StoreHttp {
        StoreHttp { deadline, last: Arc::default() }
    }

    fn last(&self) -> Option<RequestFailure> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, text: String, status: Option<StatusCode>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(RequestFailure { text, status });
    }

    /// How the last request that failed did so.
    pub fn failure(&self) -> Option<String> {
        self.last().map(|last| last.text)
    }

    /// Whether that was for what the request was about: too large, say.
    pub fn is_of_object(&self) -> bool {
        let status = self.last().and_then(|last| last.status);
        status.is_some_and(|status| [400, 409, 411, 412, 413].contains(&status.as_u16()))
    }
}

impl HttpConnector for StoreHttp {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let is_plain_allowed =
            options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|it| it == "true");
        let named = env::var_os("SSL_CERT_FILE").map(PathBuf::from);
        let file = named.unwrap_or_else(|| {
            let known = AUTHORITIES.map(PathBuf::from);
            known.iter().find(|file| file.exists()).unwrap_or(&known[0]).clone()
        });
        let tls = https::tls(&file).map_err(|error| {
            self.note(format!("{error:#}; SSL_CERT_FILE names another file"), None);
            object_store::Error::Generic { store: "TLS", source: error.into() }
        })?;
        // Where it leads to next is somebody else's word.
        let agent = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .https_only(!is_plain_allowed)
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("fpprobe/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build()
            .into();
        Ok(HttpClient::new(BlockingClient { agent, http: self.clone() }))
    }
}

/// A client that blocks: nothing else runs on the thread.
#[derive(Debug)]
struct BlockingClient {
    agent: Agent,
    http: StoreHttp,
}

#[async_trait::async_trait]
impl HttpService for BlockingClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        let body = HttpResponseBody::new(body).bytes().await?;
        // The client says itself how long the body is.
        parts.headers.remove(header::CONTENT_LENGTH);
        let time = self.http.deadline.map_or(REQUEST, |deadline| {
            deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
        });
        let response = if [Method::PUT, Method::POST].contains(&parts.method) {
            let request = self.agent.configure_request(Request::from_parts(parts, &body[..]));
            self.agent.run(request.timeout_global(Some(time)).build())
        } else {
            let request = self.agent.configure_request(Request::from_parts(parts, ()));
            self.agent.run(request.timeout_global(Some(time)).build())
        };
        let whole = response.and_then(|response| {
            let (parts, body) = response.into_parts();
            let bytes = body.into_with_config().limit(SIZE_LIMIT).read_to_vec()?;
            Ok((parts, bytes))
        });
        let (parts, bytes) = whole.map_err(|error| {
            self.http.note(described(&error), None);
            // Each request may be sent again: objects are created, or read.
            HttpError::new(HttpErrorKind::Request, Unreachable)
        })?;
        if !parts.status.is_success() {
            let code = code(&bytes).map_or_else(String::new, |code| format!(" ({code})"));
            let text = format!("the store answered with {}{code}", parts.status.as_u16());
            self.http.note(text, Some(parts.status));
        }
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
}

/// What the library is to know of a request that failed.
#[derive(Debug, thiserror::Error)]
#[error("the request failed")]
struct Unreachable;

/// An error of a request in words, without its address.
fn described(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::HostNotFound => "its host was not found".to_owned(),
        ureq::Error::Io(error) => format!("the connection failed: {error}"),
        ureq::Error::Rustls(error) => format!("TLS failed: {error}"),
        ureq::Error::RequireHttpsOnly(_) => {
            "its address is http://, which AWS_ALLOW_HTTP=true and its like allow".to_owned()
        }
        _ => "its answer was no HTTP, or cut off".to_owned(),
    }
}

/// The code of an error as S3, Azure and Google's XML interface have it, if it is a plain word.
fn code(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&body[..body.len().min(1 << 16)]);
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_word = code.len() <= CODE && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}
