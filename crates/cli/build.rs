//! Records for `hfile --version` the commit, its date, the features, the compiler and the target.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // Sources without a repository, such as an unpacked archive, can name their commit.
    println!("cargo::rerun-if-env-changed=HFILE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let named = env::var("HFILE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| repository().and_then(|place| commit_of(&place)));
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let compiler = output(Command::new(rustc).arg("--version"));
    let unknown = || "unknown".to_owned();
    println!("cargo::rustc-env=HFILE_BUILD_FEATURES={}", features());
    println!("cargo::rustc-env=HFILE_BUILD_COMMIT={}", commit.unwrap_or_else(unknown));
    println!("cargo::rustc-env=HFILE_BUILD_COMPILER={}", compiler.unwrap_or_else(unknown));
    let target = env::var("TARGET").unwrap_or_else(|_| unknown());
    println!("cargo::rustc-env=HFILE_BUILD_TARGET={target}");
}

/// Returns the enabled features, as Cargo.toml writes them.
fn features() -> String {
    let variables = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let names = variables.filter_map(|variable| {
        let name = variable.strip_prefix("CARGO_FEATURE_")?.to_ascii_lowercase().replace('_', "-");
        (name != "default").then_some(name)
    });
    let mut features: Vec<String> = names.collect();
    features.sort();
    if features.is_empty() { "none".to_owned() } else { features.join(" ") }
}

/// Returns the root of this project if it is a Git repository.
///
/// A repository above the project, such as one that vendors it, has commits of something else.
fn repository() -> Option<PathBuf> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let root = package.parent()?.parent()?.canonicalize().ok()?;
    let found = output(git(&root).args(["rev-parse", "--show-toplevel"]))?;
    (Path::new(&found).canonicalize().ok()? == root).then_some(root)
}

/// Returns the commit with its date, and has Cargo run this script again when it changes.
fn commit_of(root: &Path) -> Option<String> {
    let branch = output(git(root).args(["rev-parse", "--symbolic-full-name", "HEAD"]));
    // The log of HEAD changes with every commit; without logs, HEAD or its branch does.
    for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = output(git(root).args(["rev-parse", "--git-path", name]))?;
        let path = root.join(path);
        // Cargo takes a missing file for one that always changes.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let commit = output(git(root).args(["describe", "--always", "--tags"]))?;
    let date = output(git(root).args(["show", "--no-patch", "--format=%cs", "HEAD"]))?;
    Some(format!("{commit} of {date}"))
}

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root);
    command
}

/// Returns the trimmed output of a command that succeeds; `None` if it fails or cannot be run.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
