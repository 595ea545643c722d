//! What users set up once: completions for their shell, man pages, and `--version`.

use std::fs;
use std::process::Command;

use crate::command_line::{directory, hfile, path, shows, stdout, tells, text};

/// Completes the last of `words` as Bash does, and returns the candidates.
fn completed_by_bash(words: &[&str]) -> Vec<String> {
    let directory = directory();
    let script = path(&directory, "hfile.bash");
    fs::write(&script, stdout(&["completions", "bash"])).expect("ours");
    let last = words.len() - 1;
    let (word, previous) = (words[last], words[last - 1]);
    let steps = format!(
        "source '{script}'; COMP_WORDS=('{}'); COMP_CWORD={last}; \
         set -- $(complete -p hfile); while [[ $1 != -F ]]; do shift; done; $2 hfile '{word}' '{previous}'; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join("' '")
    );
    let output = Command::new("bash").args(["--norc", "-c", &steps]).output().expect("Bash runs");
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "BASH"] {
        let script = shows(0, &["completions", shell]).has_all(&["hfile", "recompress"]);
        assert!(script.len() > 10_000, "{shell}: {} bytes", script.len());
    }
    let directory = directory();
    for shell in ["bash", "zsh"] {
        let file = path(&directory, shell);
        fs::write(&file, stdout(&["completions", shell])).expect("ours");
        match Command::new(shell).args(["-n", &file]).output() {
            Ok(checked) => assert!(checked.status.success(), "{}", text(&checked.stderr)),
            Err(_) => eprintln!("skipped: there is no {shell}, so its script was not parsed"),
        }
    }
    tells(2, &["completions", "csh"]).has("fish");
}

#[test]
fn bash_completes_verbs_options_and_names() {
    if Command::new("bash").arg("--version").output().is_err() {
        eprintln!("skipped: there is no Bash, so its completion was not tried");
        return;
    }
    assert_eq!(completed_by_bash(&["hfile", "inf"]), ["info"]);
    assert_eq!(completed_by_bash(&["hfile", "salvage", "--forc"]), ["--force"]);
    assert_eq!(completed_by_bash(&["hfile", "store", "checkp"]), ["checkpoint"]);
    assert_eq!(completed_by_bash(&["hfile", "filter", "foreign", "mak"]), ["make"]);
    let codecs = completed_by_bash(&["hfile", "build", "--compression", ""]);
    for codec in ["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"] {
        assert!(codecs.iter().any(|known| known == codec), "{codec} in {codecs:?}");
    }
    assert_eq!(completed_by_bash(&["hfile", "build", "--compression", "=", "L"]), ["LZ4"]);
    let kinds = completed_by_bash(&["hfile", "filter", "rebuild", "--kind", "rib"]);
    assert_eq!(kinds, ["ribbon"]);
    assert_eq!(completed_by_bash(&["hfile", "cat", "--format", "ce"]), ["cells"]);
    // A file of the current directory, the root of this package.
    assert_eq!(completed_by_bash(&["hfile", "build", "--output", "Cargo.to"]), ["Cargo.toml"]);
    // Bash itself completes the file names of arguments, for which the script has no candidates.
    assert_eq!(completed_by_bash(&["hfile", "info", "Cargo.to"]), [""; 0]);
    assert!(stdout(&["completions", "bash"]).contains("-o default"));
    // An option among the candidates would be completed in place of a file name.
    for verb in [&["hfile", "info", ""][..], &["hfile", "store", "scan", ""]] {
        assert_eq!(completed_by_bash(verb), [""; 0], "{verb:?}");
    }
    assert!(completed_by_bash(&["hfile", "info", "-"]).iter().any(|option| option == "--all"));
    let verbs = completed_by_bash(&["hfile", "store", ""]);
    assert!(verbs.iter().any(|verb| verb == "scan") && !verbs.iter().any(|verb| verb == "--help"));
}

#[test]
fn each_verb_has_a_man_page_that_man_renders() {
    let directory = directory();
    let pages = path(&directory, "man1");
    let written = hfile(&["man", &pages]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let files = fs::read_dir(&pages).expect("written").count();
    assert!(text(&written.stderr).contains(&format!("{files} pages written")), "{files}");
    for (name, expected) in [
        ("hfile", "hfile-build(1)"),
        ("hfile-info", "hfile info [OPTIONS] <PATH>..."),
        ("hfile-build", "hfile build [OPTIONS] --from <FORMAT>"),
        ("hfile-store-put", "--from-line"),
        ("hfile-filter-foreign-make", "--row-keys"),
    ] {
        let file = format!("{pages}/{name}.1");
        let source = fs::read_to_string(&file).expect("written");
        assert!(source.contains(".SH NAME") && source.contains(".SH SYNOPSIS"), "{name}");
        let mut man = Command::new("man");
        man.args(["-l", &file]).env("MANWIDTH", "120").env("LC_ALL", "C.UTF-8");
        let Ok(rendered) = man.output() else {
            eprintln!("skipped: there is no man, so {name}.1 was not rendered");
            continue;
        };
        assert!(rendered.status.success(), "{name}: {}", text(&rendered.stderr));
        assert!(text(&rendered.stdout).contains(expected), "{name}: {}", text(&rendered.stdout));
    }
    let refused = hfile(&["man", &format!("{pages}/hfile.1/below")]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
}

#[test]
fn the_version_names_the_build() {
    assert_eq!(stdout(&["-V"]), "hfile 0.1.0\n");
    let long = stdout(&["--version"]);
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], "hfile 0.1.0");
    for (line, name) in lines[1..].iter().zip(["commit", "features", "compiler", "target"]) {
        let (found, value) = line.split_once("  ").expect("two columns");
        assert_eq!(found.trim(), name);
        assert!(!value.trim().is_empty(), "{line}");
    }
    assert_eq!(lines.len(), 5, "{long}");
    let known = [("parquet", cfg!(feature = "parquet")), ("zstd", cfg!(feature = "zstd"))];
    let enabled = known.into_iter().filter_map(|(name, is_on)| is_on.then_some(name));
    let enabled: Vec<_> = enabled.collect();
    let features = if enabled.is_empty() { "none".to_owned() } else { enabled.join(" ") };
    assert_eq!(lines[2], format!("features  {features}"));
    assert!(lines[3].contains("rustc"), "{long}");
}
