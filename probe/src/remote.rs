//! Places of results that have an address: folders (`file://`) and object stores (`s3://`, `gs://`,
//! `az://`).
//!
//! A [`Destination`] is such a place. What a command leaves there is a [`Delivery`]: objects in the
//! order in which they are put, so that none names another that is not there. It lies in the
//! [`spool`] until it is put. Objects are only created, never replaced, and their names follow from
//! their content, so that putting them again changes nothing.
//!
//! Architecture invariant: nothing that an object store or its client says is quoted but the status
//! and the code of a response, since the rest may show credentials.

mod address;
#[cfg(feature = "object-store")]
mod cloud;
mod delivery;
#[cfg(feature = "object-store")]
mod http;
mod local;
mod place;
mod send;
mod spool;
mod sweeps;

use std::time::Instant;

use fpprobe_reports::inventory::ReportFile;
use fpprobe_system::usage::{OrUsage as _, usage_error};

pub use self::address::{Address, Destination};
pub use self::delivery::Delivery;
use self::local::LocalPlace;
use self::place::{ObjectPlace, RemoteError};
pub use self::send::{TIME, send, send_spooled};
pub use self::sweeps::sweeps;

/// Opens a place, all that is done at which ends by the deadline.
fn open(to: &Destination, deadline: Instant) -> Result<Box<dyn ObjectPlace>, RemoteError> {
    match &to.address {
        Address::Folder(folder) => Ok(Box::new(LocalPlace(folder.clone()))),
        #[cfg(feature = "object-store")]
        Address::Bucket { .. } => Ok(Box::new(cloud::open(to, Some(deadline))?)),
        #[cfg(not(feature = "object-store"))]
        Address::Bucket { .. } => {
            let _ = deadline;
            Err(RemoteError::refused(address::NOT_BUILT))
        }
    }
}

/// The reports at a place, and files that may be reports.
pub fn report_files(from: &Destination) -> anyhow::Result<Vec<ReportFile>> {
    match &from.address {
        Address::Folder(folder) => ReportFile::in_place(folder).or_usage(),
        #[cfg(feature = "object-store")]
        Address::Bucket { .. } => cloud::report_files(from)
            .map_err(|error| usage_error(format!("failed to read {from}: {error}"))),
        #[cfg(not(feature = "object-store"))]
        Address::Bucket { .. } => Err(usage_error(address::NOT_BUILT)),
    }
}
