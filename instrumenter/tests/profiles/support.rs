//! A folder with profiles in which `romp` is run.

use std::fs;
use std::path::Path;
use std::process::Command;

use profile::model::{Node, Profile, Row, Span};
use profile::region_kind::{PseudoRegion, RegionKind};
use tempfile::TempDir;

/// The folder in which `romp` runs.
pub(crate) struct Folder(TempDir);

/// The output and status of a run of `romp`.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

impl Ran {
    /// The whole output, as a test compares it.
    pub(crate) fn all(&self) -> String {
        let Self {
            stdout,
            stderr,
            status,
        } = self;
        format!("{stdout}--- stderr\n{stderr}--- status {status}\n")
    }
}

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with `before.json` and `after.json`.
    pub(crate) fn with_both() -> Self {
        let folder = Self::new();
        folder.save("before.json", &before());
        folder.save("after.json", &after());
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn save(&self, name: &str, profile: &Profile) {
        self.write(name, &serde_json::to_string(profile).unwrap());
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Runs `romp` with words.
    pub(crate) fn romp(&self, words: &str) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_romp"))
            .args(words.split_whitespace())
            .current_dir(self.path())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            status: output.status.code().unwrap(),
        }
    }
}

/// A profile with a loop whose threads 0 and 1 have less work than the others.
pub(crate) fn before() -> Profile {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles/imbalance.romp.json");
    profile::load::load(&path).unwrap()
}

/// The same after the source was built elsewhere and changed. Ten lines were inserted at the
/// top, the loop got a schedule that distributes its work, the marked region was removed, and a
/// critical section was added.
pub(crate) fn after() -> Profile {
    let mut profile = before();
    profile.run.duration_ns = 5_400_000_000;
    profile.run.start = "2024-05-15T10:00:00Z".to_owned();
    for region in &mut profile.regions {
        region.file = region.file.replace("/home/u/", "/home/v/work/");
        region.begin = region.begin.map(|line| line + 10);
        region.end = region.end.map(|line| line + 10);
        if region.kind == RegionKind::Loop {
            region.directive = Some("#pragma omp for schedule(dynamic)".to_owned());
        }
    }
    for node in &mut profile.nodes {
        for row in &mut node.rows {
            for part in PseudoRegion::ALL {
                let mut span = row.span(part);
                span.ns = span.ns.min(5_390_000_000);
                *row = row.clone().with(part, span);
            }
            if profile.regions[node.region].kind == RegionKind::Loop {
                row.ibarr.ns = row.ibarr.ns.min(2_000_000);
            }
        }
    }
    become_critical(&mut profile);
    profile
}

/// Turns the loop of the marked region into a critical section.
fn become_critical(profile: &mut Profile) {
    let user = profile.nodes.remove(0);
    assert_eq!(profile.regions[user.region].kind, RegionKind::User);
    for node in &mut profile.nodes {
        node.parent = node.parent.and_then(|parent| parent.checked_sub(1));
    }
    let region = &mut profile.regions[user.region];
    region.kind = RegionKind::Critical;
    region.region_type = "critical".to_owned();
    region.name = Some("sum".to_owned());
    region.begin = [27, 27];
    let span = |ns| Span { count: 100, ns };
    let row = |thread| {
        Row::of(thread)
            .with(PseudoRegion::Main, span(300_000_000))
            .with(PseudoRegion::Enter, span(290_000_000))
            .with(PseudoRegion::Body, span(9_000_000))
            .with(PseudoRegion::Exit, span(1_000_000))
    };
    let parent = profile.nodes.len() - 1;
    let threads: Vec<usize> = profile.nodes[parent]
        .rows
        .iter()
        .map(|row| row.thread)
        .collect();
    profile.nodes.push(Node {
        parent: Some(parent),
        region: user.region,
        within: PseudoRegion::Main,
        rows: threads.into_iter().map(row).collect(),
    });
}
