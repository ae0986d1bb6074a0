//! The outcome of `romp check` as JUnit XML, which every CI service shows.

use std::fs::File;
use std::path::Path;

use profile::check::{Check, Checked};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Writes one suite, named after the profile, with a test case per check.
pub(super) fn write(
    name: &str,
    checked: &Checked,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(checked.checks.iter().map(test_case));
    if !checked.notes.is_empty() {
        suite.set_system_out(checked.notes.join("\n"));
    }
    let mut report = Report::new("romp check");
    report.add_test_suite(suite);
    // The file is created only now, so that an error above leaves an existing file alone.
    report.serialize(File::create(path)?)?;
    Ok(())
}

fn test_case(check: &Check) -> TestCase {
    let status = if check.holds {
        TestCaseStatus::success()
    } else {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(check.threshold.as_str());
        status.set_message(check.message.as_str());
        status
    };
    let place = check.place.as_ref();
    let subject = match place {
        Some((file, line)) => format!("{} at {file}:{line}", check.subject),
        None => check.subject.clone(),
    };
    let mut case = TestCase::new(subject, status);
    case.set_classname(format!("romp.{}", check.threshold.replace(' ', ".")));
    if let Some((file, line)) = place {
        case.extra.insert("file".into(), file.as_str().into());
        case.extra.insert("line".into(), line.to_string().into());
    }
    case
}
