//! Running the compiler: in our place, or as a child whose output we hold back.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::inherited::{self, Forwarding};
use crate::wrapper::message;
use crate::wrapper::settings::Settings;

/// The variable that marks a call by a compiler that we started, in contrast to a call by the
/// user.
pub(crate) const NESTED: &str = "ROMP_NESTED";

/// The status of a command that could not be started, as in a shell.
const NOT_STARTED: u8 = 127;

/// How a compiler ended, and its output if that was held back.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Where a child's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Shown,
    HeldBack,
}

impl Finished {
    pub(crate) fn success(&self) -> bool {
        self.status.success()
    }

    /// The status to end with. [`inherited::end`] turns that of a signal into the signal again.
    pub(crate) fn code(&self) -> u8 {
        inherited::ended_by(self.status)
    }

    /// Whether someone ended the build; then nothing else should be tried.
    pub(crate) fn interrupted(&self) -> bool {
        const HANGUP: i32 = 1;
        const INTERRUPT: i32 = 2;
        const KILL: i32 = 9;
        const TERMINATE: i32 = 15;
        matches!(
            self.status.signal(),
            Some(HANGUP | INTERRUPT | KILL | TERMINATE)
        )
    }

    /// Shows the output that was held back.
    pub(crate) fn replay(&self) {
        let _ = std::io::stdout().lock().write_all(&self.stdout);
        let _ = std::io::stderr().lock().write_all(&self.stderr);
    }
}

/// Runs one compiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) settings: &'a Settings,
}

impl Runner<'_> {
    fn command(&self, words: &[OsString]) -> Command {
        let all = [self.compiler.leading.as_slice(), words].concat();
        message::command(self.settings, &self.compiler.program, &all);
        let mut command = Command::new(&self.compiler.program);
        command.args(all).env(NESTED, "1");
        command
    }

    /// Replaces our process by the compiler, so that signals and status are its own. Returns
    /// only if the compiler can't be started, or in a dry run.
    pub(crate) fn become_compiler(&self, words: &[OsString]) -> u8 {
        let mut command = self.command(words);
        if self.settings.dry_run {
            return 0;
        }
        inherited::hand_on(&mut command, [false; 3]);
        let error = command.exec();
        self.not_started(&error)
    }

    /// Runs the compiler as a child. If `input` is given, the compiler reads it as its standard
    /// input instead of ours.
    pub(crate) fn run(
        &self,
        words: &[OsString],
        input: Option<&[u8]>,
        output: Output,
    ) -> Result<Finished, u8> {
        let mut command = self.command(words);
        if self.settings.dry_run {
            return Ok(Finished::default());
        }
        let held_back = output == Output::HeldBack;
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        if held_back {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        inherited::hand_on(&mut command, [input.is_some(), held_back, held_back]);
        let forwarding = Forwarding::begin();
        let child = command.spawn().map_err(|error| self.not_started(&error))?;
        forwarding.to(child.id());
        let ended = finish(child, input);
        forwarding.end();
        ended.map_err(|error| self.not_started(&error))
    }

    /// Whether the compiler said nothing about a source.
    pub(crate) fn is_quiet(&self, outcome: &Finished) -> bool {
        self.remarks(&outcome.stderr).is_empty()
    }

    /// Whether `messages` has all lines about a source that are in `some`.
    pub(crate) fn says_all_of(&self, messages: &[u8], some: &[u8]) -> bool {
        self.remarks(some).is_subset(&self.remarks(messages))
    }

    /// The lines that the compiler said about a source. Warnings of the compiler's driver,
    /// about a flag for example, don't depend on the text and are left out. So is the line with
    /// the number of warnings.
    fn remarks<'m>(&self, messages: &'m [u8]) -> HashSet<&'m [u8]> {
        let compiler = self.compiler;
        let words = std::iter::once(&compiler.program).chain(&compiler.leading);
        let drivers: Vec<Vec<u8>> = words
            .filter_map(|word| Path::new(word).file_name())
            .map(|name| [name.as_bytes(), b": warning: "].concat())
            .collect();
        let is_remark = |line: &&[u8]| {
            let by_driver = drivers.iter().any(|driver| line.starts_with(driver));
            !line.is_empty() && !by_driver && !line.ends_with(b" generated.")
        };
        let lines = messages.split(|byte| *byte == b'\n');
        lines.filter(is_remark).collect()
    }

    fn not_started(&self, error: &std::io::Error) -> u8 {
        let program = self.compiler.program.display();
        let advice = self.compiler.variable;
        let advice = advice.map_or(String::new(), |name| format!("; name another in {name}"));
        message::error(&format!(
            "cannot run the compiler '{program}': {error}{advice}"
        ));
        NOT_STARTED
    }

    /// The flag that keeps colours in output that is held back.
    pub(crate) fn colour(&self, line: &CommandLine) -> Option<OsString> {
        let set_to = |name, value: &str| std::env::var_os(name).is_some_and(|v| v == value);
        let wanted = !line.has(Meaning::Colour)
            && std::io::stderr().is_terminal()
            && !set_to("TERM", "dumb")
            && !set_to("GCC_COLORS", "");
        let flag = self.compiler.family.colour.filter(|_| wanted);
        flag.map(OsString::from)
    }
}

/// Drains a child's pipes side by side and feeds it, so that none of them fills up. Only
/// feeding takes a thread, since starting one takes longer than instrumenting a small source.
fn finish(mut child: Child, input: Option<&[u8]>) -> std::io::Result<Finished> {
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        let fed = stdin.zip(input).filter(|(_, input)| !input.is_empty());
        if let Some((mut pipe, input)) = fed {
            scope.spawn(move || {
                // A compiler that stops reading its input is not an error of ours.
                let _ = pipe.write_all(input);
            });
        }
        child.wait_with_output()
    })?;
    Ok(Finished {
        status: output.status,
        stdout: output.stdout,
        stderr: output.stderr,
    })
}
