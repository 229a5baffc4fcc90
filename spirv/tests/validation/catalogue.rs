//! Every module of the catalogue passes SPIRV-Tools' validator, and the texts given to others
//! assemble to the same words.
//!
//! This is a package of its own because shaderc, which fpprobe-spirv links, brings a copy of
//! SPIRV-Tools: a program with this one as well would have every symbol twice. So the modules come
//! from a program that cargo runs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use spirv_tools_sys::shared::TargetEnv;
use tools::Tools;

mod tools;

/// The environment that modules are built for.
const PLAIN: TargetEnv = TargetEnv::Vulkan_1_1;
/// The one that has `SPV_KHR_float_controls2` in its core.
const FAST_MATH: TargetEnv = TargetEnv::Vulkan_1_4;

struct Record {
    kind: String,
    name: String,
    content: Vec<u8>,
}

/// The records that fpprobe-spirv's example `modules` writes.
struct Records {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Records {
    fn start() -> Records {
        let mut child = Command::new(env!("CARGO"))
            .args([
                "run",
                "--quiet",
                "--locked",
                "--package",
                "fpprobe-spirv",
                "--example",
                "modules",
            ])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("cargo runs");
        let out = BufReader::new(child.stdout.take().expect("its output is piped"));
        Records { child, out }
    }
}

impl Iterator for Records {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let mut line = String::new();
        if self.out.read_line(&mut line).expect("a line") == 0 {
            assert!(
                self.child.wait().expect("an exit status").success(),
                "the example `modules` failed"
            );
            return None;
        }
        let mut words = line.trim_end().splitn(3, ' ').map(str::to_owned);
        let (kind, length, name) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let mut content = vec![0; length.parse().unwrap()];
        self.out.read_exact(&mut content).expect("a whole record");
        Some(Record { kind, name, content })
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// A module as a validator knows it that is older than `SPV_KHR_fma` (September 2025): sums stand
/// where `OpFmaKHR` does.
fn without_fma(words: &[u32]) -> Vec<u32> {
    const EXTENSION: [u8; 12] = *b"SPV_KHR_fma\0";
    let (header, mut rest) = words.split_at(5);
    let mut known = header.to_vec();
    while let Some(first) = rest.first() {
        let (inst, others) = rest.split_at((first >> 16) as usize);
        rest = others;
        let operands = inst[1..].iter().flat_map(|word| word.to_le_bytes());
        match first & 0xffff {
            CAPABILITY if inst[1] == FMA_CAPABILITY => {}
            OP_EXTENSION if operands.eq(EXTENSION) => {}
            FMA => known.extend([
                (inst.len() as u32 - 1) << 16 | FADD,
                inst[1],
                inst[2],
                inst[3],
                inst[4],
            ]),
            _ => known.extend(inst),
        }
    }
    known
}

/// The same of a text.
fn text_without_fma(text: &str) -> String {
    let known = |line: &str| match line.split_once("OpFmaKHR") {
        Some((before, operands)) => {
            let (two, _) = operands.trim_end().rsplit_once(' ').expect("three operands");
            format!("{before}OpFAdd{two}\n")
        }
        None if line.contains("FMAKHR") || line.contains("SPV_KHR_fma") => String::new(),
        None => format!("{line}\n"),
    };
    text.lines().map(known).collect()
}

// SPIR-V, "Binary Form" of instructions, and SPV_KHR_fma.
const OP_EXTENSION: u32 = 10;
const CAPABILITY: u32 = 17;
const FADD: u32 = 129;
const FMA: u32 = 4427;
const FMA_CAPABILITY: u32 = 6030;

/// What one record says is seen to be right.
fn check(record: Record, last: &mut Vec<u32>) -> Seen {
    if record.kind == "spv" {
        *last = without_fma(&words(&record.content));
        let fast_math = record.name.contains("fastmath0");
        let environment = if fast_math { FAST_MATH } else { PLAIN };
        if let Err(refusal) = Tools::new(environment).validate(last) {
            panic!("{} is not valid for {environment:?}: {refusal}", record.name);
        }
        return if fast_math && record.name.contains("f16.fadd") {
            Seen::Sample(last.clone())
        } else {
            Seen::Module
        };
    }
    let text = text_without_fma(&String::from_utf8(record.content).unwrap());
    let made = Tools::new(TargetEnv::Universal_1_3).assemble(&text);
    let made =
        made.unwrap_or_else(|error| panic!("{} does not assemble: {error}\n{text}", record.name));
    // Words 0 to 4 are the header, whose generator differs.
    assert_eq!(made[5..], last[5..], "{}", record.name);
    assert_eq!((made[0], made[1], made[3]), (last[0], last[1], last[3]), "{}", record.name);
    Seen::Text
}

/// A module, one to break, or a module's text.
enum Seen {
    Module,
    Sample(Vec<u32>),
    Text,
}

#[test]
fn every_module_is_valid_and_every_text_is_its_module() {
    // A module and its text stay together.
    let mut records = Records::start().peekable();
    let pairs = std::iter::from_fn(|| {
        let module = records.next()?;
        Some([Some(module), records.next_if(|next| next.kind == "spvasm")])
    });
    let pairs = Mutex::new(pairs);
    let next = || pairs.lock().unwrap().next();
    let seen = || -> Vec<Seen> {
        let mut last = Vec::new();
        std::iter::from_fn(next)
            .flatten()
            .flatten()
            .map(|record| check(record, &mut last))
            .collect()
    };
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(seen)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let texts = seen.iter().filter(|seen| matches!(seen, Seen::Text)).count();
    let modules = seen.len() - texts;
    println!("{modules} modules, {texts} texts");
    assert!(modules > 10_000 && texts > 2000, "{modules} modules, {texts} texts");
    let sample = seen
        .iter()
        .find_map(|seen| if let Seen::Sample(module) = seen { Some(module) } else { None });
    broken_modules_are_refused(sample.expect("f16.fadd under fastmath0"));
}

/// The test above can fail: each of these makes a valid module invalid.
fn broken_modules_are_refused(valid: &[u32]) {
    const CAPABILITY: u32 = 17;
    const DECORATE: u32 = 71;
    const FADD: u32 = 129;
    const IADD: u32 = 128;
    let without = |opcode, operand, at| {
        edited(valid, |inst| inst[0] & 0xffff == opcode && inst[at] == operand, |_| vec![])
    };
    let broken = [
        (
            "integer addition of floats",
            edited(
                valid,
                |inst| inst[0] & 0xffff == FADD,
                |inst| {
                    let mut inst = inst.to_vec();
                    inst[0] = inst[0] & 0xffff_0000 | IADD;
                    inst
                },
            ),
        ),
        ("no capability Float16", without(CAPABILITY, 9, 1)),
        ("no capability FloatControls2", without(CAPABILITY, 6029, 1)),
        ("no decoration Block", without(DECORATE, 2, 2)),
    ];
    for (what, module) in broken {
        assert_ne!(module, valid, "{what}: nothing to break");
        assert!(Tools::new(FAST_MATH).validate(&module).is_err(), "{what} passes");
    }
}

/// The module with some instructions replaced.
fn edited(
    module: &[u32],
    which: impl Fn(&[u32]) -> bool,
    with: impl Fn(&[u32]) -> Vec<u32>,
) -> Vec<u32> {
    let (header, mut rest) = module.split_at(5);
    let mut edited = header.to_vec();
    while let Some(first) = rest.first() {
        let (inst, after) = rest.split_at((first >> 16) as usize);
        edited.extend(if which(inst) { with(inst) } else { inst.to_vec() });
        rest = after;
    }
    edited
}
