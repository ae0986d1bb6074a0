//! `romp instrument`

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Failure;
use crate::api::Api;
use crate::diagnostic::file_error;
use crate::find::{Reading, front_end};
use crate::list::{HiddenEntry, hidden};
use crate::verify::verify_read;
use crate::{Instrumented, Options, Source, instrument_read, names};

/// Arguments of `romp instrument`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The source file; - for standard input. With --verify and without -o, several
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where to write the instrumented text; standard output by default
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Prove that nothing but the listed edits changed; write nothing unless -o is given
    #[arg(long)]
    verify: bool,
    /// Distinguishes this file's names from those of every other file in the program
    /// (by default made from its name and text)
    #[arg(long, value_parser = identifier)]
    unique: Option<String>,
    #[command(flatten)]
    disable: super::Disable,
    /// The interface whose functions are called
    #[arg(long, value_enum, default_value_t)]
    api: Api,
    /// The compiler makes no code for a device: instrument the constructs in target regions too
    #[arg(long)]
    host_only: bool,
    /// Let traces show the chunks of loops, and of Fortran's tasks where they were created: a
    /// comparison more in each iteration
    #[arg(long)]
    chunks: bool,
    /// Call only functions that the measurement library has (docs/ports.md). C and C++ programs ask it
    /// when they start, Fortran programs when a probe is reached for the first time
    #[arg(long)]
    partial_library: bool,
    /// The Fortran standard in force has no block construct (before 2008), which --chunks and
    /// --partial-library need
    #[arg(long)]
    without_blocks: bool,
    #[command(flatten)]
    lines: super::lines::Lines,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.partial_library && arguments.api == Api::Pomp2 {
        const WHY: &str = "--partial-library is for --api pomp: nothing stands in for functions that \
                           a library for POMP2 lacks\n";
        clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, WHY).exit()
    }
    match arguments.files.as_slice() {
        [file] => one(arguments, file),
        files if arguments.verify && arguments.output.is_none() => all(arguments, files),
        _ => {
            const WHY: &str = "several files can only be verified: say --verify, without -o\n";
            clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, WHY).exit()
        }
    }
}

/// Instruments every file, even after a failure.
fn all(arguments: &Arguments, files: &[PathBuf]) -> Result<(), Failure> {
    let results = files.iter().map(|file| one(arguments, file));
    let failed = results
        .filter_map(Result::err)
        .inspect(|failure| tell!("{}", failure.message))
        .count();
    match failed {
        0 => Ok(()),
        _ => Err(Failure::from(format!(
            "error: {failed} of {} files could not be verified",
            files.len()
        ))),
    }
}

fn one(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let mut source = super::read_source(file)?;
    arguments.lines.lay_out(&mut source);
    let unique = arguments
        .unique
        .clone()
        .unwrap_or_else(|| unique(&source, arguments.output.as_deref()));
    let options = Options {
        unique,
        host_only: arguments.host_only,
        disabled: arguments.disable.groups(),
        chunks: arguments.chunks,
        without_blocks: arguments.without_blocks,
        partial_library: arguments.partial_library,
        // An unlimited line length stands for Flang, which accepts no line markers within a
        // statement.
        whole_statements: source.layout.line_length.is_none(),
        has_hashes: true,
        api: arguments.api,
        ..Options::default()
    };
    let reading = front_end(source.language).read(&source);
    let result = instrument_read(&*reading, &source, &options);
    for warning in &result.warnings {
        tell!("{warning}");
    }
    for HiddenEntry { file, line, reason } in hidden(&source, &result) {
        let help = HiddenEntry::HELP;
        let file = profile::printable::printable(&file);
        tell!("{file}:{line}: warning: not instrumented: {reason}\n  = help: {help}");
    }
    if arguments.verify {
        check(&*reading, &source, &result)?;
    }
    // A dash given with -o means standard output, too.
    let output = arguments.output.as_ref();
    match output.filter(|path| path.as_os_str() != "-") {
        Some(output) => write(output, file, result.text()),
        None if arguments.verify && output.is_none() => Ok(()),
        None => super::print(|out| out.write_all(result.text())),
    }
}

fn check(reading: &dyn Reading, source: &Source, result: &Instrumented) -> Result<(), Failure> {
    verify_read(reading, source, result).map_err(|defect| {
        let help = "this is a defect of romp; please report it with this file";
        Failure::from(file_error(
            names::shown(&source.name).as_ref(),
            &defect.to_string(),
            help,
        ))
    })?;
    let name = names::shown(&source.name);
    let regions = profile::analysis::words::count(result.instrumented as u64, "region");
    tell!("{name}: verified, {regions}");
    Ok(())
}

/// Writes the output in one step, so that it is never incomplete, and never over the source. If
/// the output is not an ordinary file, such as `/dev/null`, it is written to and not replaced.
pub(super) fn write(output: &Path, input: &Path, text: &[u8]) -> Result<(), Failure> {
    let error = |what: &str, help: &str| Failure::from(file_error(output, what, help));
    let same = |path: &Path| std::fs::canonicalize(path).ok();
    if same(output).is_some() && same(output) == same(input) {
        return Err(error("is the source itself", "choose another name with -o"));
    }
    let written = match std::fs::metadata(output) {
        Ok(there) if !there.is_file() => std::fs::write(output, text),
        // A link keeps its target; the target is replaced.
        _ => replace(&same(output).unwrap_or_else(|| output.to_owned()), text),
    };
    written.map_err(|cause| {
        error(
            &cause.to_string(),
            "choose a place that can be written with -o",
        )
    })
}

/// Writes a file in the place of another one, if there is one.
fn replace(output: &Path, text: &[u8]) -> std::io::Result<()> {
    // The permissions of an ordinary new file, reduced by the umask.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let mut file = tempfile::Builder::new()
        .permissions(mode)
        .tempfile_in(names::directory(output))?;
    file.write_all(text)?;
    file.persist(output).map_err(|failed| failed.error)?;
    Ok(())
}

/// A part of our names: the same for the same text, name and output, and different otherwise.
pub(super) fn unique(source: &Source, output: Option<&Path>) -> String {
    let mut hasher = DefaultHasher::new();
    source.name.hash(&mut hasher);
    source.text.hash(&mut hasher);
    output.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn identifier(text: &str) -> Result<String, String> {
    match text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        true => Ok(text.to_owned()),
        false => Err("use letters, digits and _ only".into()),
    }
}
