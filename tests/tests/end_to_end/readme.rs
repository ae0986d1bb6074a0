//! The README's first example, pasted as a reader would: it builds, runs, and prints
//! what the README shows.

use std::path::Path;
use std::process::Command;

use tests::toolchain::romp_bin_dir;

/// The README's first fenced block that begins with this line, without the line.
fn block(fence: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let (_, rest) = text.split_once(&format!("\n{fence}\n")).unwrap();
    rest.split_once("\n```").unwrap().0.to_owned()
}

/// The words of a text, with each number replaced: times differ from run to run.
fn words_without_numbers(text: &str) -> Vec<String> {
    let word = |word: &str| match word.trim_start_matches('(').parse::<f64>() {
        Ok(_) => "N".to_owned(),
        Err(_) => word.to_owned(),
    };
    let unit = |word: &String| !["ms", "s"].contains(&word.trim_matches([')', '.']));
    text.split_whitespace().map(word).filter(unit).collect()
}

#[test]
fn the_first_example_does_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    let source = block("```c");
    let name = source.lines().next().unwrap();
    let name = name.trim_start_matches("/* ").trim_end_matches(" */");
    std::fs::write(folder.path().join(name), &source).unwrap();

    let session = block("```");
    let commands = session.lines().filter_map(|line| line.strip_prefix("$ "));
    let shown = session.lines().filter(|line| !line.starts_with("$ "));
    let mut path = romp_bin_dir().unwrap().into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let script = format!(
        "exec 2>&1\nset -e\n{}",
        commands.collect::<Vec<_>>().join("\n")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        words_without_numbers(&said),
        words_without_numbers(&shown.collect::<Vec<_>>().join("\n")),
    );
}
