//! A profile's operations: which kernels can implement one, how accurate it must be, and what is
//! special about it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use fpprobe_spirv::op::{OPS, Op};
use fpprobe_spirv::{Format, Kernel, ParseError, Route};
use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::ANY;
use super::bound::{Bound, Formulas, bound, formulas};
use super::raw::{EnvironmentKeys, RawOperation};
use crate::environment::Environment;
use crate::source::{LocatedError, SourceError, SourceFile, message, once, placed};

/// How many kernels may implement an operation.
const MOST_LOWERINGS: usize = 16;

/// What a profile says of one operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    lowerings: Vec<Lowering>,
    /// By format, or for any.
    pub(super) accuracy: BTreeMap<String, Bound>,
    /// The formulas that it may be carried out as.
    pub(super) inherits: Option<Formulas>,
    pub(super) environment: Table,
    widths: RangeInclusive<u32>,
    /// Routes that it is asked by, each of which a device may lack; none for the natural one.
    routes: Vec<Route>,
}

/// A kernel operation, of the rule's format and by its natural route unless it has one of its own.
#[derive(Clone, Debug)]
struct Lowering {
    format: Option<Format>,
    op: &'static Op,
    route: Option<Route>,
}

/// How an operation is asked: at which width, and by which route if not by the natural one.
pub(super) type WidthAndRoute = (u32, Option<Route>);

impl Lowering {
    /// Whether there is a format in which it takes this route.
    fn has(&self, route: Route) -> bool {
        let mut formats =
            self.op.formats.iter().filter(|format| self.format.is_none_or(|own| own == **format));
        formats.any(|format| self.op.code.routes(*format).contains(&route))
    }

    fn kernel(&self, format: Format, (width, route): WidthAndRoute) -> Result<Kernel, ParseError> {
        let plain = Kernel::plain(self.format.unwrap_or(format), self.op)?;
        Kernel { width, route: self.route.or(route).unwrap_or(plain.route), ..plain }.checked()
    }
}

impl Operation {
    /// The operation of this name; `at` is where its table stands.
    pub(super) fn read(
        source: &Rc<SourceFile>,
        name: &str,
        raw: &RawOperation,
        at: usize,
    ) -> Result<Operation, SourceError> {
        let key = |key: &str| format!("operation.{name}.{key}");
        let problem = |(at, problem): LocatedError| source.error(at, problem);
        let list = &key("lowerings");
        if raw.lowerings.is_empty() {
            return Err(
                source.error(at, format!("`{list}` is empty: name at least one kernel operation"))
            );
        }
        once(list, placed(&raw.lowerings), MOST_LOWERINGS).map_err(problem)?;
        let lowering = |text: &Spanned<String>| {
            lowering(text.get_ref())
                .map_err(|error| (text.span().start, format!("`{list}`: {error}")))
        };
        let accuracy = |(format, text): (&String, &Spanned<String>)| {
            let key = key(&format!("accuracy.{format}"));
            if let (true, Err(error)) = (format != ANY, format.parse::<Format>()) {
                return Err(
                    source.error(text.span().start, format!("`{key}`: {error}; or write `{ANY}`"))
                );
            }
            Ok((format.clone(), bound(source, &key, text)?))
        };
        let lowerings: Vec<Lowering> = raw
            .lowerings
            .iter()
            .map(lowering)
            .collect::<Result<_, LocatedError>>()
            .map_err(problem)?;
        // Every width at which it asks something else: each of those that take vectors as a whole.
        let all = lowerings[0].op.widths();
        let all = if lowerings[0].op.is_componentwise() { 1..=1 } else { all };
        let widths = match &raw.widths {
            None => all,
            Some(written) => {
                let [from, to] = *written.get_ref();
                if from > to || !all.contains(&from) || !all.contains(&to) {
                    let (first, last) = (all.start(), all.end());
                    let problem = format!(
                        "`{}`: give the least and the largest, from {first} to {last}",
                        key("widths")
                    );
                    return Err(source.error(written.span().start, problem));
                }
                from..=to
            }
        };
        let list = &key("routes");
        once(list, placed(&raw.routes), MOST_LOWERINGS).map_err(problem)?;
        let route = |text: &Spanned<String>| {
            let route = text.get_ref().parse::<Route>().map_err(|error| error.to_string());
            let known = |route: &Route| lowerings.iter().all(|lowering| lowering.has(*route));
            let route = route.and_then(|route| {
                let strange = || format!("`{}` has no route `{route}`", lowerings[0].op.name);
                if known(&route) { Ok(route) } else { Err(strange()) }
            });
            route.map_err(|error| (text.span().start, format!("`{list}`: {error}")))
        };
        let routes = raw
            .routes
            .iter()
            .map(route)
            .collect::<Result<Vec<Route>, LocatedError>>()
            .map_err(problem)?;
        Ok(Operation {
            lowerings,
            widths,
            routes,
            accuracy: raw.accuracy.iter().map(accuracy).collect::<Result<_, SourceError>>()?,
            inherits: raw
                .inherits
                .as_ref()
                .map(|texts| formulas(source, name, texts))
                .transpose()?,
            environment: changes(&key("environment"), &raw.environment).map_err(problem)?,
        })
    }

    /// The kernel operation of its first lowering.
    pub(super) fn op(&self) -> Option<&'static Op> {
        self.lowerings.first().map(|lowering| lowering.op)
    }

    /// The ways in which it is asked.
    pub(super) fn ways(&self) -> Vec<WidthAndRoute> {
        let routes = if self.routes.is_empty() {
            vec![None]
        } else {
            self.routes.iter().copied().map(Some).collect()
        };
        self.widths
            .clone()
            .flat_map(|width| routes.iter().map(move |route| (width, *route)))
            .collect()
    }

    /// The kernels that implement it in a format in one of its ways, the default first; none where
    /// no operation exists for it.
    pub(super) fn kernels(
        &self,
        format: Format,
        way: WidthAndRoute,
    ) -> Result<Vec<Kernel>, ParseError> {
        let own = self.lowerings.iter().filter(|Lowering { format: own, op, .. }| {
            let exists = own.is_some() || op.formats.contains(&format);
            let has_route =
                way.1.is_none_or(|route| op.code.routes(own.unwrap_or(format)).contains(&route));
            exists && has_route && op.widths().contains(&way.0)
        });
        own.map(|lowering| lowering.kernel(format, way)).collect()
    }
}

fn lowering(text: &str) -> Result<Lowering, String> {
    let (stem, keys) = text.split_once(':').unwrap_or((text, ""));
    let route = match keys.strip_prefix("route=") {
        Some(route) => Some(route.parse::<Route>().map_err(|error| error.to_string())?),
        None if keys.is_empty() => None,
        None => {
            return Err(format!(
                "`{text}`: a lowering is [FORMAT.]OP[:route=ROUTE], without other keys"
            ));
        }
    };
    let (format, op) = match stem.rsplit_once('.') {
        Some((format, op)) => {
            (Some(format.parse::<Format>().map_err(|error| error.to_string())?), op)
        }
        None => (None, stem),
    };
    let op = Op::find(op).ok_or_else(|| {
        ParseError::unknown("operation", op, OPS.iter().map(|op| op.name)).to_string()
    })?;
    if let Some(format) = format {
        let plain = Kernel::plain(format, op).map_err(|error| error.to_string())?;
        Kernel { route: route.unwrap_or(plain.route), ..plain }
            .checked()
            .map_err(|error| error.to_string())?;
    }
    Ok(Lowering { format, op, route })
}

/// The table of these keys, written under `key`; refuses keys and values that no environment has. A
/// format's name stands for a table of keys that change for that format alone.
pub(super) fn changes(key: &str, written: &EnvironmentKeys) -> Result<Table, LocatedError> {
    let mut table = Table::new();
    for (name, value) in written {
        let whole = match value.get_ref() {
            Value::Table(own) if name.parse::<Format>().is_ok() => own.clone(),
            value => Table::from_iter([(name.clone(), value.clone())]),
        };
        match Environment::deserialize(whole) {
            // Whether other keys are missing shows when all that is written has come together.
            Err(error) if !error.message().starts_with("missing field") => {
                return Err((value.span().start, message(key, error)));
            }
            _ => drop(table.insert(name.clone(), value.get_ref().clone())),
        }
    }
    Ok(table)
}

/// What changes for a format: what changes for every one, and then what does for this one alone.
pub(super) fn changed(format: Format, changes: &Table) -> Table {
    let own = changes.get(format.name()).and_then(Value::as_table).cloned().unwrap_or_default();
    let every = changes.iter().filter(|(_, value)| !value.is_table());
    every.map(|(name, value)| (name.clone(), value.clone())).chain(own).collect()
}

/// A whole environment, written under `key`.
pub(super) fn environment(key: &str, table: &Table) -> Result<Environment, String> {
    Environment::deserialize(table.clone()).map_err(|error| message(key, error))
}
