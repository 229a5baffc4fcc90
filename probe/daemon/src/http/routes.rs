//! What the listener shows.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fpprobe_reports::store::Store;
use serde::Serialize;

use super::Seat;
use super::response::{self, HttpResponse};
use crate::changes::files;
use crate::door::{Door, ProcessStep};
use crate::job::{self, JobLimits, JobResult};
use crate::settings::DaemonSettings;
use crate::shared_status::SharedStatus;

/// Between two signs of life to who follows the events.
const ALIVE: Duration = Duration::from_secs(5);
/// Time for a page of a report to be made.
const PAGE: Duration = Duration::from_mins(1);
/// Where it is made.
const PAGE_FILE: &str = "page.html";
/// Reports in the list, newest first.
const LISTED: usize = 500;

/// Everything that is shown.
pub struct Site {
    door: Arc<dyn Door>,
    shared: Arc<SharedStatus>,
    store: Store,
    config: PathBuf,
    work: PathBuf,
    diffs: PathBuf,
    /// Pages are made one at a time: each takes a process and its memory.
    making: Mutex<()>,
    following: Arc<AtomicUsize>,
    followers: usize,
}

#[derive(Serialize)]
struct ListedReport {
    id: String,
    finished: String,
    devices: Vec<String>,
    page: String,
}

impl Site {
    /// Of this status and store. Half of the connections may follow events.
    pub fn new(
        door: Arc<dyn Door>,
        shared: Arc<SharedStatus>,
        settings: &DaemonSettings,
        connections: usize,
    ) -> Site {
        let folder = settings.folder();
        Site {
            door,
            shared,
            store: settings.store.clone(),
            config: folder.join("config.toml"),
            work: folder.join("work"),
            diffs: folder.join("diffs"),
            making: Mutex::new(()),
            following: Arc::default(),
            followers: connections.div_ceil(2),
        }
    }

    /// The answer to a path.
    pub fn answer(&self, path: &str) -> HttpResponse {
        let snapshot = self.shared.look();
        match path {
            "/" => HttpResponse::of("text/html; charset=utf-8", include_str!("page.html")),
            "/page.css" => HttpResponse::of("text/css; charset=utf-8", include_str!("page.css")),
            "/page.js" => {
                HttpResponse::of("text/javascript; charset=utf-8", include_str!("page.js"))
            }
            "/status" => HttpResponse::of("application/json", snapshot.status.as_bytes()),
            "/metrics" => HttpResponse::of(
                "text/plain; version=0.0.4; charset=utf-8",
                snapshot.metrics.as_bytes(),
            ),
            "/healthz" => self.shared.stuck(Instant::now()).map_or_else(
                || HttpResponse::plain(200, "ok"),
                |since| {
                    HttpResponse::plain(
                        503,
                        &format!("the daemon has been stuck for {} s", since.as_secs()),
                    )
                },
            ),
            "/readyz" if snapshot.ready => HttpResponse::plain(200, "ready"),
            "/readyz" => HttpResponse::plain(
                503,
                "the devices have not been looked at yet, or the daemon ends",
            ),
            "/reports" => self.reports(),
            path => match (path.strip_prefix("/reports/"), path.strip_prefix("/diffs/")) {
                (Some(id), _) => self.report(id),
                (_, Some(id)) => self.diff(id),
                _ => HttpResponse::plain(404, "there is nothing of that name"),
            },
        }
    }

    fn reports(&self) -> HttpResponse {
        let Ok(listing) = self.store.list() else {
            return HttpResponse::plain(500, "the store cannot be read");
        };
        let listed = listing.reports.iter().rev().take(LISTED).map(|stored| ListedReport {
            id: stored.entry.id().to_owned(),
            finished: stored.entry.finished.clone(),
            devices: stored.entry.devices.iter().map(|device| device.name.clone()).collect(),
            page: format!("/reports/{}", stored.entry.id()),
        });
        let text = serde_json::to_string(&listed.collect::<Vec<_>>()).unwrap_or_default();
        HttpResponse::of("application/json", text)
    }

    /// What changed with the report of this id: a page, or the document where the id ends with
    /// `.json`.
    fn diff(&self, name: &str) -> HttpResponse {
        let id = name.strip_suffix(".json").unwrap_or(name);
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let document = self.diffs.join(format!("{id}.json"));
        let read = if is_id { fs::read(&document).ok() } else { None };
        let Some(text) = read else {
            return HttpResponse::plain(404, "nothing changed with a report of that id");
        };
        if id != name {
            return HttpResponse::of("application/json", text);
        }
        let Some([old, new]) = files(&text) else {
            return HttpResponse::plain(500, "the difference cannot be read");
        };
        if let Some(missing) = [&old, &new].into_iter().find(|file| !file.is_file()) {
            let text = format!(
                "The store does not have {} any more, so there is no page of this difference.\n\
                 /diffs/{id}.json has every change. To store more reports, raise `store.keep_count`, \
                 `store.keep_days` or `store.keep_bytes`.",
                missing.display()
            );
            return HttpResponse::plain(404, &text);
        }
        let output = &self.work.join(PAGE_FILE);
        self.page(&ProcessStep::Compare { old: &old, new: &new, output }, output)
    }

    /// The page of a report.
    fn report(&self, id: &str) -> HttpResponse {
        let unknown = || HttpResponse::plain(404, "there is no report of that id");
        let Ok(listing) = self.store.list() else {
            return HttpResponse::plain(500, "the store cannot be read");
        };
        let Some(stored) = listing.reports.iter().find(|stored| stored.entry.id() == id) else {
            return unknown();
        };
        let (store, report, output) =
            (self.store.folder(), stored.entry.id(), &self.work.join(PAGE_FILE));
        self.page(&ProcessStep::Render { store, report, output, format: None }, output)
    }

    /// A page that a process of its own makes.
    fn page(&self, step: &ProcessStep<'_>, output: &Path) -> HttpResponse {
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = self.door.arguments(&self.config, step);
        let limits = JobLimits { time: PAGE, stop: Arc::default() };
        let ended = job::run(&arguments, &limits).map(|done| done.ended);
        match (ended, fs::read(output)) {
            (Ok(JobResult::Status(0)), Ok(page)) => HttpResponse::page(page),
            _ => HttpResponse::plain(500, "the page could not be made"),
        }
    }

    /// The state, again and again, as server-sent events.
    pub fn events(&self, stream: &TcpStream) -> io::Result<()> {
        let Some(_seat) = Seat::take(&self.following, self.followers) else {
            return HttpResponse::plain(503, "too many follow already").write(stream, false);
        };
        response::send(stream, response::stream_head().as_bytes())?;
        let mut version = 0;
        loop {
            let snapshot = self.shared.wait(version, ALIVE);
            let text = if snapshot.version == version {
                ": alive\n\n".to_owned()
            } else {
                format!("data: {}\n\n", snapshot.status)
            };
            version = snapshot.version;
            response::send(stream, text.as_bytes())?;
        }
    }
}
