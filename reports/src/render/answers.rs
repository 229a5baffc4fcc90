//! The answers alone, for `fpprobe answers`: question by question, device by device.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::md::escape;
use super::paper::{Ink, Paper, Style};
use super::{OutputFormat, Render, json, phrase};
use crate::decimal;
use crate::escape::visible;
use crate::model::{Answer, AnswerEvidence, Report, Value};
use fpprobe_spirv::Kernel;

/// The forms of answers, in the order of help texts.
pub static ANSWERS: &[OutputFormat] = &[
    OutputFormat {
        name: "text",
        extensions: &[],
        about: "for the terminal",
        renderer: &AnswersText,
    },
    OutputFormat {
        name: "json",
        extensions: &[],
        about: "one document",
        renderer: &AnswersDocument,
    },
    OutputFormat { name: "md", extensions: &[], about: "Markdown", renderer: &AnswersMarkdown },
];

/// How many lanes of an answer fit a screen.
const FEW: usize = 3;

struct AnswersText;

impl Render for AnswersText {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.show(report, Style::PLAIN, out)
    }

    fn show(&self, report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let paper = &mut Paper::new(out, style);
        for (index, device) in report.devices.iter().enumerate() {
            if index > 0 {
                paper.gap()?;
            }
            paper.line(0, 2, &[(Ink::Strong, &device.identity.name)])?;
            paper.line(2, 2, &[(Ink::Faint, &phrase::driver(&device.identity))])?;
            for Answer { id, question, answer, evidence } in &device.answers {
                paper.gap()?;
                paper.line(
                    0,
                    5,
                    &[(Ink::Strong, id), (Ink::Plain, "  "), (Ink::Note, question)],
                )?;
                paper.line(5, 0, &[(Ink::Plain, answer)])?;
                let few = if style.is_whole() { evidence.len() } else { FEW };
                for shown in evidence.iter().take(few) {
                    paper.line(7, 2, &[(Ink::Faint, &lane(shown))])?;
                }
                if few < evidence.len() {
                    let rest = format!("{few} of {} lanes; all with -v", evidence.len());
                    paper.line(7, 2, &[(Ink::Faint, &rest)])?;
                }
            }
        }
        Ok(())
    }
}

struct AnswersDocument;

impl Render for AnswersDocument {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let devices: Vec<Json> = report
            .devices
            .iter()
            .map(|device| {
                let identity = &device.identity;
                json!({ "device": identity.key, "slot": identity.slot, "name": identity.name, "driver": identity.driver, "answers": device.answers })
            })
            .collect();
        json::document(&json!({ "schema": "fpprobe-answers/1", "devices": devices }), out)
    }
}

struct AnswersMarkdown;

impl Render for AnswersMarkdown {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        for device in &report.devices {
            writeln!(out, "## {}\n", escape(&device.identity.name))?;
            for Answer { id, question, answer, evidence } in &device.answers {
                writeln!(out, "**{}** {}\n\n{}\n", escape(id), escape(question), escape(answer))?;
                for shown in evidence {
                    writeln!(out, "    {}", visible(&lane(shown)))?;
                }
                if !evidence.is_empty() {
                    writeln!(out)?;
                }
            }
        }
        Ok(())
    }
}

/// `f32.inverse_sqrt 80000000 -> ff800000 (-inf)`.
pub(super) fn lane(shown: &AnswerEvidence) -> String {
    let inputs: Vec<String> = shown.inputs.iter().map(flat).collect();
    let out = flat(&shown.out);
    let format = shown.kernel.parse::<Kernel>().ok().map(|kernel| kernel.result().format);
    let value =
        format.and_then(|format| Some(decimal::decimal(format, format.parse_bits(&out).ok()?)));
    let value = value.map(|value| format!(" ({value})")).unwrap_or_default();
    format!("{} {} -> {out}{value}", shown.kernel, inputs.join(" "))
}

fn flat(value: &Value) -> String {
    match value {
        Value::Bits(bits) => bits.to_string(),
        Value::List(list) => list.iter().map(flat).collect::<Vec<_>>().join(","),
    }
}
