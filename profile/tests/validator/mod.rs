//! Python's `jsonschema`, which most readers of JSON schemas use, in a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// Reads the schema from the first line and a value from each other line. Answers each with a line:
/// the list of what is wrong.
const SCRIPT: &str = "
import json, sys
from jsonschema import Draft202012Validator as Draft
schema = json.loads(sys.stdin.readline())
def answer(errors):
    print(json.dumps([f'{error.json_path}: {error.message}' for error in errors]), flush=True)
answer(Draft(Draft.META_SCHEMA).iter_errors(schema))
draft = Draft(schema)
for line in sys.stdin:
    answer(draft.iter_errors(json.loads(line)))
";

/// A schema that values are compared with.
pub(crate) struct Validator {
    process: Child,
    /// Closed before the process is waited for, which then ends.
    values: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Validator {
    /// Panics where `schema` is not a schema.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut process = Command::new("/usr/bin/python3")
            .args(["-I", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut validator = Self {
            values: process.stdin.take(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        };
        assert_eq!(validator.problems(schema), Vec::<String>::new());
        validator
    }

    /// Where `value` does not follow the schema, and how.
    pub(crate) fn problems(&mut self, value: &Value) -> Vec<String> {
        let values = self.values.as_mut().unwrap();
        let written = writeln!(values, "{value}");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let is_there = written.is_ok() && !answer.is_empty();
        assert!(is_there, "no Python with jsonschema: run tests/setup");
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Validator {
    fn drop(&mut self) {
        self.values = None;
        let _ = self.process.wait();
    }
}
