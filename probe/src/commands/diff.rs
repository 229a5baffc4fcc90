//! `fpprobe diff OLD NEW`

use std::path::Path;

use fpprobe_profiles::Profile;
use fpprobe_reports::common::common;
use fpprobe_reports::diff::{DIFFS, compare};
use fpprobe_reports::load::{self, LoadedReport};
use fpprobe_reports::store::{Store, place_before};

use crate::cli::{CompareArgs, DiffArgs};
use crate::exit::Status;
use crate::output::Page;
use crate::session::Session;
use crate::{keep, named_report, profiles};
use fpprobe_reports::host;
use fpprobe_system::usage::{OrUsage as _, say, usage_error};

/// Compares two reports, or two folders of them; one of the store with the one before it.
pub fn main(session: &Session, args: &DiffArgs) -> anyhow::Result<Status> {
    let named = |name: &Path| named_report::path(&session.config, &args.place, name);
    match (&args.old, &args.new) {
        (Some(old), Some(new)) => between(session, [&named(old)?, &named(new)?], &args.comparing),
        (one, _) => {
            let one = one.as_deref().map_or(Some("last"), Path::to_str);
            let place = one.and_then(place_before).ok_or_else(|| {
                usage_error("name two reports, or one of the store as `last` or `last-1`, which is compared with the one before")
            })?;
            let store = keep::store(&session.config, &args.place)?;
            stored(
                session,
                &store,
                [place + 1, place].map(|place| format!("last-{place}")),
                &args.comparing,
            )
        }
    }
}

/// Compares two reports of the store.
pub fn stored<S: AsRef<str>>(
    session: &Session,
    store: &Store,
    [old, new]: [S; 2],
    args: &CompareArgs,
) -> anyhow::Result<Status> {
    let path = |id: &str| named_report::in_store(store, id);
    between(session, [&path(old.as_ref())?, &path(new.as_ref())?], args)
}

fn between(session: &Session, places: [&Path; 2], args: &CompareArgs) -> anyhow::Result<Status> {
    let page = Page::new(DIFFS, args.output.as_deref(), args.format.as_deref())?;
    let [mut old, mut new] =
        if args.common { whole(places)? } else { load::to_compare(places).or_usage()? };
    let judges = judges(&args.profile, &old, &new)?;
    if let ([old], [new], true) = (&mut old[..], &mut new[..], args.common) {
        common(&judges, &mut old.report, &mut new.report).or_usage()?;
    }
    let compared = compare(host::program(), &judges, &old, &new).or_usage()?;
    for unknown in &compared.unknown {
        say(&format!("warning: {unknown}"));
    }
    page.write(session.style(), |form, style, out| form.render(&compared.diff, style, out))?;
    // Freeing some hundred megabytes piece by piece takes as long as reading them; the process ends
    // here.
    std::mem::forget((old, new, compared));
    Ok(Status::Done)
}

/// Both reports with every answer: what both asked is judged again.
fn whole(places: [&Path; 2]) -> anyhow::Result<[Vec<LoadedReport>; 2]> {
    let one = |path: &Path| -> anyhow::Result<Vec<LoadedReport>> {
        Ok(vec![LoadedReport {
            file: path.display().to_string(),
            report: load::one(path).or_usage()?,
        }])
    };
    Ok([one(places[0])?, one(places[1])?])
}

/// The profiles to judge inputs by: the named ones, or those built in that some device of the
/// reports was judged by.
pub fn judges(
    named: &[String],
    old: &[LoadedReport],
    new: &[LoadedReport],
) -> anyhow::Result<Vec<Profile>> {
    if !named.is_empty() {
        return profiles::for_devices(named);
    }
    profiles::that_judged(old.iter().chain(new).map(|loaded| &loaded.report))
}
