//! Where a setting comes from: the file, then variables of the environment, then the command line.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use fpprobe_spirv::error::nearest;
use toml::{Table, Value};

use super::settings::{Config, checked, removed};

/// Variables of these names are no settings: the layer that tests load into workers, the benchmark
/// and hooks have them.
const OTHERS: [&str; 4] =
    ["FPPROBE_FAULTS", "FPPROBE_FAULTS_STATE", "FPPROBE_BENCH_RUNS", "FPPROBE_HOOK"];
/// How the variables begin.
const PREFIX: &str = "FPPROBE_";

/// Where a setting was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Nowhere.
    Default,
    /// In this file.
    File(PathBuf),
    /// By this variable.
    Environment(String),
    /// By `--set`.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "file {}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::CommandLine => f.write_str("command line"),
        }
    }
}

/// One layer over the other.
#[derive(Clone, Debug)]
pub struct ConfigLayers {
    values: Table,
    origins: BTreeMap<String, Origin>,
}

impl ConfigLayers {
    /// The defaults alone.
    pub fn defaults() -> Result<ConfigLayers, String> {
        let values =
            Table::try_from(Config::default()).map_err(|error| format!("the defaults: {error}"))?;
        let origins = leaves(&values).into_iter().map(|(key, _)| (key, Origin::Default)).collect();
        Ok(ConfigLayers { values, origins })
    }

    /// Lays a file, whose text has been checked, over what there is.
    pub fn file(&mut self, path: &Path, text: &str) -> Result<(), String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        for (key, value) in leaves(&table) {
            self.put(&key, value, Origin::File(path.to_owned()));
        }
        Ok(())
    }

    /// Lays variables of the environment over it: `FPPROBE_DAEMON_HTTP_LISTEN` is
    /// `daemon.http.listen`.
    pub fn environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), String> {
        let known: BTreeMap<String, String> =
            self.origins.keys().map(|key| (variable(key), key.clone())).collect();
        for (name, text) in variables {
            if !name.starts_with(PREFIX) || OTHERS.contains(&name.as_str()) {
                continue;
            }
            let Some(key) = known.get(&name) else {
                let key = name.trim_start_matches(PREFIX).to_lowercase().replace('_', ".");
                if let Some(message) = removed(&key) {
                    return Err(format!("the environment variable `{name}`: {message}"));
                }
                let near = nearest(&name, known.keys().map(String::as_str));
                return Err(format!(
                    "the environment variable `{name}` is no setting{}",
                    meant(&near)
                ));
            };
            self.set(key, &text, Origin::Environment(name.clone()))
                .map_err(|error| format!("the environment variable `{name}`: {error}"))?;
        }
        Ok(())
    }

    /// Lays `KEY=VALUE` of the command line over it.
    pub fn command_line(&mut self, given: &[String]) -> Result<(), String> {
        for text in given {
            let Some((key, value)) = text.split_once('=') else {
                return Err(format!("`--set {text}`: write it as KEY=VALUE"));
            };
            let key = key.trim();
            if !self.origins.contains_key(key) {
                if let Some(message) = removed(key) {
                    return Err(format!("`--set {text}`: {message}"));
                }
                let near = nearest(key, self.origins.keys().map(String::as_str));
                return Err(format!("`--set {text}`: `{key}` is no setting{}", meant(&near)));
            }
            self.set(key, value, Origin::CommandLine)
                .map_err(|error| format!("`--set {text}`: {error}"))?;
        }
        Ok(())
    }

    /// The configuration in effect.
    pub fn config(&self) -> Result<Config, String> {
        checked(self.typed()?)
    }

    /// Every setting as what it must be, whatever it says.
    fn typed(&self) -> Result<Config, String> {
        self.values.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }

    /// Makes one setting from a text.
    fn set(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), String> {
        let value = self.value(key, text)?;
        self.put(key, value, origin);
        self.typed().map(drop).map_err(|error| format!("`{key}`: {error}"))
    }

    /// Every setting with its value, as TOML has it, and where it was made, sorted by key.
    pub fn shown(&self) -> Vec<(String, String, &Origin)> {
        let mut leaves = leaves(&self.values);
        leaves.sort_by(|one, other| one.0.cmp(&other.0));
        let origin = |key: &str| self.origins.get(key).unwrap_or(&Origin::Default);
        leaves
            .into_iter()
            .map(|(key, value)| (key.clone(), value.to_string(), origin(&key)))
            .collect()
    }

    /// Every setting, as a file has them.
    pub fn text(&self) -> String {
        self.shown()
            .into_iter()
            .map(|(key, value, _)| format!("{key} = {value}\n"))
            .collect::<Vec<_>>()
            .concat()
    }

    /// A text as a value of the kind that the setting has.
    fn value(&self, key: &str, text: &str) -> Result<Value, String> {
        let kind = leaves(&self.values).into_iter().find(|leaf| leaf.0 == key).map(|leaf| leaf.1);
        let number = |what: &str| format!("`{key}` must be {what}, not `{text}`");
        Ok(match kind {
            Some(Value::Boolean(_)) => {
                Value::Boolean(text.parse().map_err(|_| number("true or false"))?)
            }
            Some(Value::Integer(_)) => {
                Value::Integer(text.parse().map_err(|_| number("a whole number"))?)
            }
            Some(Value::Float(_)) => Value::Float(text.parse().map_err(|_| number("a number"))?),
            Some(Value::Array(_)) if text.trim_start().starts_with('[') => {
                let table: Table = format!("x = {text}").parse().map_err(|_| number("a list"))?;
                table["x"].clone()
            }
            Some(Value::Array(_)) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
            }
            _ => Value::String(text.to_owned()),
        })
    }

    fn put(&mut self, key: &str, value: Value, origin: Origin) {
        let (mut table, mut rest) = (&mut self.values, key);
        while let Some((head, tail)) = rest.split_once('.') {
            let inner = table.entry(head).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = inner else { return };
            (table, rest) = (inner, tail);
        }
        // A whole number where a fraction may stand.
        let value = match (table.get(rest), value) {
            (Some(Value::Float(_)), Value::Integer(number)) => Value::Float(number as f64),
            (_, value) => value,
        };
        table.insert(rest.to_owned(), value);
        self.origins.insert(key.to_owned(), origin);
    }
}

/// `; did you mean ...?`
fn meant(near: &[String]) -> String {
    if near.is_empty() {
        return " (`fpprobe config show` lists them)".to_owned();
    }
    format!("; did you mean `{}`?", near.join("`, `"))
}

/// The variable of a setting.
fn variable(key: &str) -> String {
    PREFIX.to_owned() + &key.replace('.', "_").to_uppercase()
}

/// Every setting of a table by its dotted key.
fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                found.extend(
                    leaves(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)),
                );
            }
            value => found.push((key.clone(), value.clone())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(
        file: &str,
        variables: &[(&str, &str)],
        sets: &[&str],
    ) -> Result<ConfigLayers, String> {
        let mut layers = ConfigLayers::defaults()?;
        layers.file(Path::new("/etc/c.toml"), file)?;
        layers.environment(
            variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
        )?;
        layers.command_line(&sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>())?;
        Ok(layers)
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_command_line_over_both() {
        let file = "[workers]\njobs = 2\ntimeout = 3\n[daemon.http]\nlisten = \"127.0.0.1:1\"\n";
        let variables = [
            ("FPPROBE_WORKERS_JOBS", "3"),
            ("FPPROBE_DAEMON_HTTP_LISTEN", "127.0.0.1:2"),
            ("OTHER", "x"),
        ];
        let sets = [
            "daemon.http.listen=127.0.0.1:3",
            "daemon.hook.command=[\"a b\", \"c\"]",
            "devices=x,y",
        ];
        let layers = layers(file, &variables, &sets).unwrap();
        let config = layers.config().unwrap();
        assert_eq!((config.workers.jobs, config.workers.timeout), (3, 3.0));
        assert_eq!(config.daemon.http.listen, "127.0.0.1:3");
        assert_eq!(config.daemon.hook.command, ["a b", "c"]);
        assert_eq!(config.devices, ["x", "y"]);
        let shown = layers.shown();
        let origin = |key: &str| shown.iter().find(|row| row.0 == key).unwrap().2.to_string();
        assert_eq!(origin("workers.timeout"), "file /etc/c.toml");
        assert_eq!(origin("workers.jobs"), "environment FPPROBE_WORKERS_JOBS");
        assert_eq!(origin("daemon.http.listen"), "command line");
        assert_eq!(origin("workers.batch"), "default");
        assert_eq!(
            super::super::settings::parse(&layers.text()).unwrap(),
            config,
            "what is shown reads back"
        );
    }

    #[test]
    fn what_is_no_setting_is_refused_with_the_nearest_name() {
        for (variables, sets, words) in [
            (
                &[("FPPROBE_WORKERS_JBOS", "3")][..],
                &[][..],
                &["FPPROBE_WORKERS_JBOS", "`FPPROBE_WORKERS_JOBS`"][..],
            ),
            (&[], &["daemon.http.listn=x"], &["daemon.http.listn", "`daemon.http.listen`"]),
            (
                &[("FPPROBE_WORKERS_JOBS", "many")],
                &[],
                &["FPPROBE_WORKERS_JOBS", "whole number", "many"],
            ),
            (&[], &["daemon.budget.memory=1"], &["daemon.budget.memory", "MemoryMax="]),
            (
                &[("FPPROBE_DAEMON_BUDGET_MEMORY", "1")],
                &[],
                &["FPPROBE_DAEMON_BUDGET_MEMORY", "MemoryMax="],
            ),
            (&[], &["daemon"], &["KEY=VALUE"]),
            (
                &[],
                &["daemon.tell=x"],
                &["`--set daemon.tell=x`", "`daemon.tell`", "`x`", "`regressions`"],
            ),
            (
                &[("FPPROBE_DAEMON_BUSY_IN_USE", "x")],
                &[],
                &["FPPROBE_DAEMON_BUSY_IN_USE", "`daemon.busy.in_use`"],
            ),
        ] {
            let message = layers("", variables, sets).unwrap_err();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
        assert!(
            layers("", &[("FPPROBE_WORKERS_JOBS", "1000")], &[])
                .unwrap()
                .config()
                .unwrap_err()
                .contains("64")
        );
    }
}
