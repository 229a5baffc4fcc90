//! The help: commands in groups, three examples for each, and what to type first.

use clap::Command;

/// Commands by what they are for. Each command is in one group.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "eval", "list"]),
    ("Look", &["show", "repro", "answers", "kernels", "rules", "profiles", "accepts", "judge"]),
    ("Compare", &["diff", "check", "baseline", "history", "inventory", "gate", "screen"]),
    ("Whole domains", &["sweep", "merge"]),
    ("Service", &["daemon"]),
    ("Setup", &["doctor", "config", "schema", "completions", "man", "help"]),
];

/// Three examples for each command.
pub const EXAMPLES: [(&str, [&str; 3]); 26] = [
    (
        "run",
        [
            "fpprobe run -o report/",
            "fpprobe run --require d3d11",
            "fpprobe run 'f16.*' --device llvmpipe",
        ],
    ),
    (
        "eval",
        [
            "fpprobe eval f32.inverse_sqrt 80000000",
            "fpprobe eval f32.fmin 7fc00000 3f800000 --device 0",
            "fpprobe eval 'f32.fadd:controls=szin32;route=spec' 80000000 00000000",
        ],
    ),
    ("list", ["fpprobe list", "fpprobe list --json", "fpprobe list --verbose"]),
    (
        "answers",
        [
            "fpprobe answers",
            "fpprobe answers report/report.json --format md",
            "fpprobe answers --device llvmpipe",
        ],
    ),
    (
        "show",
        ["fpprobe show 1", "fpprobe show traits report/report.json", "fpprobe show packHalf2x16"],
    ),
    (
        "repro",
        [
            "fpprobe repro 1",
            "fpprobe repro 2 report/report.json",
            "fpprobe repro 1 last-1 -o for-the-vendor/",
        ],
    ),
    (
        "kernels",
        [
            "fpprobe kernels",
            "fpprobe kernels 'f16.*'",
            "fpprobe kernels f32.inverse_sqrt --emit amber 80000000",
        ],
    ),
    ("rules", ["fpprobe rules", "fpprobe rules d3d11", "fpprobe rules --coverage --json"]),
    (
        "profiles",
        ["fpprobe profiles", "fpprobe profiles --set colour=never", "fpprobe profiles --verbose"],
    ),
    (
        "accepts",
        [
            "fpprobe accepts d3d11 f32.inverse_sqrt 80000000",
            "fpprobe accepts wgsl f32.fmin 7fc00000 3f800000",
            "fpprobe accepts vulkan f32.fma 3f800000 3f800001 33800000",
        ],
    ),
    (
        "judge",
        [
            "fpprobe judge report.json",
            "fpprobe judge report.json --profile mine.toml",
            "fpprobe judge report.json --format md",
        ],
    ),
    (
        "diff",
        [
            "fpprobe diff old.json new.json",
            "fpprobe diff last",
            "fpprobe diff old.json new.json -o diff.html",
        ],
    ),
    (
        "check",
        [
            "fpprobe check --baseline accepted.toml",
            "fpprobe check --baseline accepted.toml report.json --strict",
            "fpprobe check --baseline accepted.toml report.json --format junit",
        ],
    ),
    (
        "baseline",
        [
            "fpprobe baseline accept report.json --reason 'known, see the tracker'",
            "fpprobe baseline accept report.json --reason known --rule D32-18 --expires 2027-01-31",
            "fpprobe baseline accept report.json --reason known --prune -o accepted.toml",
        ],
    ),
    (
        "history",
        [
            "fpprobe history list",
            "fpprobe history compare last-1 last",
            "fpprobe history prune --keep-days 90",
        ],
    ),
    (
        "inventory",
        [
            "fpprobe inventory fleet/",
            "fpprobe inventory fleet/ --since 2026-11-01",
            "fpprobe inventory fleet/ --consensus expected.json -o inventory.csv",
        ],
    ),
    (
        "gate",
        [
            "fpprobe gate --record --expect expected.json",
            "fpprobe gate --expect expected.json",
            "fpprobe gate --expect expected.json --budget 5s --style nagios",
        ],
    ),
    (
        "screen",
        [
            "fpprobe screen --for 10m",
            "fpprobe screen --for 8h --load -o screen.json",
            "fpprobe screen f32.sqrt 'f16.*' --for 1h --reference sound.fingerprint",
        ],
    ),
    (
        "sweep",
        [
            "fpprobe sweep f32.sqrt",
            "fpprobe sweep f32.exp2 --profile vulkan -o sweep/",
            "fpprobe sweep f16.fadd --fingerprint -o fingerprint/",
        ],
    ),
    (
        "merge",
        [
            "fpprobe merge part1.json part2.json -o sweep/",
            "fpprobe merge part1/ part2/ part3/",
            "fpprobe merge part1.json part2.json --format json",
        ],
    ),
    ("daemon", ["fpprobe daemon", "fpprobe daemon status", "fpprobe daemon run-now --full"]),
    (
        "doctor",
        ["fpprobe doctor", "fpprobe doctor --verbose", "fpprobe doctor --set workers.timeout=60"],
    ),
    ("config", ["fpprobe config show", "fpprobe config show --origin", "fpprobe config check"]),
    ("schema", ["fpprobe schema", "fpprobe schema diff", "fpprobe schema sweep"]),
    (
        "completions",
        ["fpprobe completions bash", "fpprobe completions zsh", "fpprobe completions fish"],
    ),
    ("man", ["fpprobe man", "fpprobe man > fpprobe.1", "fpprobe man | man -l -"]),
];

/// What `fpprobe` alone prints.
pub const FIRST: &str = "\
fpprobe list              list the Vulkan devices of this machine
fpprobe run               measure them all and judge the results
fpprobe run -o report/    the same, with a report as JSON and as a page
fpprobe show D32-18       show a rule, a kernel, or a cause of the last run
fpprobe --help            list all commands
";

/// What the exit statuses mean.
pub const STATUSES: [&str; 6] = [
    "done as requested",
    "internal error",
    "usage, configuration or unreadable input",
    "a requirement or baseline is not met",
    "nothing could be measured",
    "incomplete: kernels did not run, or something crashed, hung, was lost or was interrupted",
];

/// Which status wins.
pub const PRECEDENCE: &str = "Where several apply, the first of 2, 1, 4, 3, 5.";

/// The command line with grouped commands and examples.
pub fn with_help(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        groups(&command)
    );
    let numbered =
        STATUSES.iter().enumerate().map(|(number, meaning)| format!("\n  {number}  {meaning}"));
    let statuses = format!("Exit status:{}\n{PRECEDENCE}", numbered.collect::<String>());
    let command = command.help_template(template).after_help(statuses);
    EXAMPLES.iter().fold(command, |command, (name, examples)| {
        let lines = examples.map(|example| format!("\n  {example}")).concat();
        command.mut_subcommand(name, |one| one.after_help(format!("Examples:{lines}")))
    })
}

fn groups(command: &Command) -> String {
    let about = |name: &&str| {
        let one = command.get_subcommands().find(|one| one.get_name() == *name);
        let about = one
            .and_then(Command::get_about)
            .map_or("Show the help of a command".to_owned(), ToString::to_string);
        format!("  {name:<13}{about}\n")
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{title}:\n{}\n", names.iter().map(about).collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_has_a_group_and_three_examples_that_are_valid() {
        let command = Cli::command();
        let all: BTreeSet<&str> = command
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
            .map(Command::get_name)
            .collect();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .filter(|name| *name != "help")
            .collect();
        assert_eq!(grouped.len(), all.len());
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), all);
        assert_eq!(EXAMPLES.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(), all);
        for (name, examples) in EXAMPLES {
            for example in examples {
                let line = example.split(['>', '|']).next().unwrap();
                let quoted = shell(line);
                assert_eq!(quoted[1], name, "{example}");
                Cli::try_parse_from(&quoted).unwrap_or_else(|error| panic!("{example}: {error}"));
            }
        }
    }

    /// The words of a command line.
    fn shell(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        parts
            .flat_map(|(number, part)| match number % 2 {
                1 => vec![part.to_owned()],
                _ => part.split_whitespace().map(str::to_owned).collect(),
            })
            .collect()
    }

    #[test]
    fn help_is_in_the_imperative_and_fits() {
        let mut command = with_help(Cli::command());
        let text = command.render_help().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let participles = [
            "Shows", "Prints", "Lists", "Says", "Asks", "Tells", "Puts", "Has", "Names", "Takes",
            "Compares",
        ];
        let abouts = |command: &Command| -> Vec<String> {
            let arguments =
                command.get_arguments().filter_map(|one| one.get_help().map(ToString::to_string));
            command.get_about().map(ToString::to_string).into_iter().chain(arguments).collect()
        };
        let mut commands: Vec<&Command> = vec![&command];
        while let Some(one) = commands.pop() {
            commands.extend(one.get_subcommands());
            for about in abouts(one) {
                let first = about.split_whitespace().next().unwrap_or_default();
                assert!(!participles.contains(&first), "{}: {about}", one.get_name());
            }
        }
    }
}
