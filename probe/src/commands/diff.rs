//! `fpprobe diff OLD NEW`

use std::path::{Path, PathBuf};

use fpprobe_profiles::Profile;
use fpprobe_reports::common::common;
use fpprobe_reports::diff::{DIFFS, compare};
use fpprobe_reports::load::{self, LoadedReport};
use fpprobe_reports::store::Store;

use crate::cli::{CompareArgs, DiffArgs};
use crate::exit::Status;
use crate::output::Page;
use crate::session::Session;
use crate::{colour, keep, profiles};
use fpprobe_system::host;
use fpprobe_system::usage::{OrUsage as _, say};

/// Compares two reports, or two folders of them.
pub fn main(session: &Session, args: &DiffArgs) -> anyhow::Result<Status> {
    match (&args.old, &args.new) {
        (Some(old), Some(new)) => between(session, [old, new], &args.comparing),
        _ => stored(session, &keep::store(&session.config, &args.place)?, ["last-1", "last"], &args.comparing),
    }
}

/// Compares two reports of the store.
pub fn stored(session: &Session, store: &Store, ids: [&str; 2], args: &CompareArgs) -> anyhow::Result<Status> {
    let listing = store.list().or_usage()?;
    let path =
        |id| -> anyhow::Result<PathBuf> { Ok(store.folder().join(store.find(&listing, id).or_usage()?.entry.file)) };
    let [old, new] = [path(ids[0])?, path(ids[1])?];
    between(session, [&old, &new], args)
}

fn between(session: &Session, places: [&Path; 2], args: &CompareArgs) -> anyhow::Result<Status> {
    let page = Page::new(DIFFS, args.output.as_deref(), args.format.as_deref())?;
    let [mut old, mut new] = if args.common { whole(places)? } else { load::to_compare(places).or_usage()? };
    let judges = judges(&args.profile, &old, &new)?;
    if let ([old], [new], true) = (&mut old[..], &mut new[..], args.common) {
        common(&judges, &mut old.report, &mut new.report).or_usage()?;
    }
    let compared = compare(host::program(), &judges, &old, &new).or_usage()?;
    for unknown in &compared.unknown {
        say(&format!("warning: {unknown}"));
    }
    page.write(colour::on_stdout(session.config.colour), |form, style, out| form.render(&compared.diff, style, out))?;
    // Freeing some hundred megabytes piece by piece takes as long as reading them; the process ends here.
    std::mem::forget((old, new, compared));
    Ok(Status::Done)
}

/// Both reports with every answer: what both asked is judged again.
fn whole(places: [&Path; 2]) -> anyhow::Result<[Vec<LoadedReport>; 2]> {
    let one = |path: &Path| -> anyhow::Result<Vec<LoadedReport>> {
        Ok(vec![LoadedReport { file: path.display().to_string(), report: load::one(path).or_usage()? }])
    };
    Ok([one(places[0])?, one(places[1])?])
}

/// The profiles to judge inputs by: the named ones, or those built in that some device of the reports was judged by.
pub fn judges(named: &[String], old: &[LoadedReport], new: &[LoadedReport]) -> anyhow::Result<Vec<Profile>> {
    if !named.is_empty() {
        return profiles::for_devices(named);
    }
    profiles::that_judged(old.iter().chain(new).map(|loaded| &loaded.report))
}
