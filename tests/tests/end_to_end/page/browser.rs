//! Browsers that run the checks in `tests/page`, one check after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use super::root;

/// Python with playwright: where tests/setup puts it, or the system's.
fn python() -> PathBuf {
    let own = root().join("target/page/bin/python3");
    if own.exists() { own } else { "python3".into() }
}

/// Whether tests/setup could not get the tools. If so, prints that the test is not run.
pub(super) fn are_tools_missing(test: &str) -> bool {
    let missing = root().join("target/page/unavailable").exists();
    if missing {
        println!("page::{test}: NOT TESTED: tests/setup could not get its tools");
    }
    missing
}

/// Runs a check in a browser that serves one check after the other. Returns what it said.
pub(super) fn in_browser(name: &str, folder: &Path) -> String {
    if are_tools_missing(name) {
        return String::new();
    }
    let idle = IDLE.lock().unwrap().pop();
    let mut browser = idle.unwrap_or_else(Browser::start);
    let said = browser.check(name, folder);
    IDLE.lock().unwrap().push(browser);
    said
}

/// Browsers that run no check now. They end with this process, which closes their input.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

/// A process with a browser, which takes checks.
struct Browser {
    checks: ChildStdin,
    answers: BufReader<ChildStdout>,
    _process: Child,
}

impl Browser {
    fn start() -> Self {
        let ready = Command::new(python())
            .args(["-c", "import playwright"])
            .output();
        assert!(
            ready.is_ok_and(|output| output.status.success()),
            "no playwright for Python: run tests/setup"
        );
        let mut process = Command::new(python())
            .arg(root().join("tests/page/check.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            checks: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
        }
    }

    fn check(&mut self, name: &str, folder: &Path) -> String {
        writeln!(self.checks, "{name}\t{}", folder.display()).unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let said = answer["said"].as_str().unwrap().to_owned();
        assert_eq!(answer["passed"], true, "{name}: {said}");
        said
    }
}
