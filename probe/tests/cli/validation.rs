//! The Khronos validation layer has nothing to say of kernels of every kind, by every route.
//! SPIRV-Tools alone looks at the modules of all of them.
//!
//! Debian 12's layer (1.3.239) is older than `SPV_KHR_float_controls2`. What it says of that
//! extension is distinguished by what it names, and the kernels that it cannot judge are listed by
//! name and counted.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::scene::{HONEST, ends, fpprobe, json};

/// Operations of every kind, under all controls, at all widths and by all routes that are asked.
const KINDS: [&str; 15] = [
    "*.fadd*",
    "*.fma*",
    "*.sqrt*",
    "*.fmin*",
    "*.select*",
    "*.frexp*",
    "*.dot*",
    "*.reflect*",
    "*.matrix_times_*",
    "*.fconvert_*",
    "*.ford_equal*",
    "*pack*",
    "*.store*",
    "*.load*",
    "*.narrow_widen*",
];

/// Marks of what a layer says that does not know `SPV_KHR_float_controls2`: the extension, its
/// capability by number and without, the structure that enables it, and that such a module cannot
/// be specialised.
const NEWER: [&str; 5] = [
    "SPV_KHR_float_controls2",
    "Invalid capability operand: 6029",
    "Unhandled OpCapability",
    "1000528000",
    "VUID-VkPipelineShaderStageCreateInfo-pSpecializationInfo-06719",
];

/// Everything that validation layers say while a program runs, whichever of its processes they are
/// in: standard output would keep the last of it, and a file the last process's.
struct Hearing {
    pipe: PathBuf,
    text: JoinHandle<String>,
}

/// The last line of what is heard.
const END: &str = "end";

impl Hearing {
    /// Of layers that take their settings from this folder.
    fn new(folder: &Path) -> Hearing {
        let pipe = folder.join("said");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let settings = [
            ("debug_action", "VK_DBG_LAYER_ACTION_LOG_MSG"),
            ("report_flags", "error,warn"),
            ("enable_message_limit", "FALSE"),
            ("log_filename", pipe.to_str().unwrap()),
        ];
        let settings = settings.map(|(key, value)| format!("khronos_validation.{key} = {value}\n"));
        std::fs::write(folder.join("vk_layer_settings.txt"), settings.concat()).unwrap();
        // Open for writing too, it does not end with the first process that closes it.
        let own: File = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let lines = BufReader::new(own).split(b'\n');
        let read = move || {
            let lines = lines.map(|line| String::from_utf8_lossy(&line.unwrap()).into_owned());
            lines.take_while(|line| line != END).collect::<Vec<String>>().join("\n")
        };
        Hearing { pipe, text: std::thread::spawn(read) }
    }

    /// Beginnings of the messages, once nothing speaks any more. What is longer than a pipe takes
    /// at once may go on behind another's message.
    fn messages(self) -> Vec<String> {
        OpenOptions::new()
            .write(true)
            .open(&self.pipe)
            .unwrap()
            .write_all(format!("\n{END}\n").as_bytes())
            .unwrap();
        let text = self.text.join().unwrap();
        let messages = text
            .split("Validation ")
            .filter(|part| part.starts_with("Error: [") || part.starts_with("Warning: ["));
        messages.map(|message| message.chars().take(2000).collect()).collect()
    }
}

#[test]
fn the_validation_layer_is_silent() {
    for driver in HONEST {
        let folder = tempfile::tempdir().unwrap();
        let hearing = Hearing::new(folder.path());
        let report = folder.path().join(format!("{driver}.json"));
        let mut command = fpprobe(&[driver]);
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        command.env("VK_LAYER_SETTINGS_PATH", folder.path());
        let ended =
            ends(command.args(["run", "--timeout", "60"]).args(KINDS).arg("-o").arg(&report));
        ended.with(0);
        let report = json(&report);
        let device = &report["devices"][0];
        // The layer was really there: it taints the report.
        assert!(
            device["taint"].to_string().contains("khronos_validation"),
            "{driver}: {}",
            device["taint"]
        );
        let said = hearing.messages();
        let newer = |message: &&String| NEWER.iter().any(|mark| message.contains(mark));
        let unexpected: Vec<&String> = said.iter().filter(|message| !newer(message)).collect();
        assert!(unexpected.is_empty(), "{driver}: {unexpected:#?}");
        let observations = device["observations"].as_array().unwrap();
        let kernels = observations
            .iter()
            .filter(|o| o["outcome"] != "unsupported")
            .filter_map(|o| o["kernel"].as_str());
        let beyond: Vec<&str> = kernels.filter(|kernel| kernel.contains("fastmath0")).collect();
        assert_eq!(
            said.is_empty(),
            beyond.is_empty(),
            "{driver}: messages and kernels newer than the layer go together"
        );
        // Past the test harness, which keeps what a passing test prints to itself.
        let mut out = std::io::stderr().lock();
        let _ = writeln!(
            out,
            "{driver}: {} of {} kernels are newer than the validation layer",
            beyond.len(),
            observations.len()
        );
        for kernel in beyond {
            let _ = writeln!(out, "  {kernel}");
        }
    }
}
