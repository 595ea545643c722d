//! No folder of a crate has a cycle between its modules; `modules.rs` says what counts as a use of another module.

use std::fs;
use std::path::PathBuf;

use crate::cycles::{Cycle, cycles};
use crate::modules::{Use, uses};
use crate::workspace;

/// The programs of `benches`, each with a `main.rs`.
const PROGRAMS: &[&str] = &["compare", "examples/experiments", "filter", "snapshot", "store"];

/// The root files of all crates and of the programs of `benches`.
fn roots() -> Vec<(String, PathBuf)> {
    let crates = workspace().join("crates");
    let mut roots = Vec::new();
    roots.push(("benches/workload".to_owned(), workspace().join("benches/workload/lib.rs")));
    for program in PROGRAMS {
        let root = workspace().join("benches").join(program).join("main.rs");
        roots.push((format!("benches/{program}"), root));
    }
    for entry in fs::read_dir(&crates).expect("the workspace has crates") {
        let entry = entry.expect("it can be listed");
        let name = entry.file_name().into_string().expect("names of crates are ASCII");
        for file in ["lib.rs", "main.rs"] {
            let root = entry.path().join("src").join(file);
            if root.exists() {
                roots.push((name.clone(), root));
            }
        }
    }
    roots.sort();
    assert!(roots.len() >= 4 + PROGRAMS.len(), "crates are found where they are looked for");
    roots
}

/// Returns the report for a crate; `None` without cycles.
fn verdict(name: &str, cycles: &[Cycle<'_>]) -> Option<String> {
    let reports: Vec<String> = cycles.iter().map(Cycle::report).collect();
    (!reports.is_empty()).then(|| format!("{name}: modules in cycles\n{}", reports.join("\n")))
}

#[test]
fn no_folder_has_a_cycle_between_its_modules() {
    let mut wrong = Vec::new();
    for (name, root) in roots() {
        match uses(&root, &workspace()) {
            Ok(uses) => {
                wrong.extend(verdict(&name, &cycles(&uses)));
            }
            Err(problems) => wrong.push(format!("{name}: not checked\n{}", problems.join("\n"))),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the uses in a crate of these files; the first is its root.
fn fixture(files: &[(&str, &str)]) -> Result<Vec<Use>, Vec<String>> {
    let directory = tempfile::tempdir().expect("there is a place for files");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("in the directory")).expect("can be made");
        fs::write(&path, text).expect("can be written");
    }
    uses(&directory.path().join(files[0].0), directory.path())
}

/// The pairs of modules of which the first uses the second.
fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let uses = fixture(files).expect("the fixture can be read");
    let mut pairs: Vec<_> = uses.into_iter().map(|one| (one.from, one.to)).collect();
    pairs.dedup();
    pairs
}

fn has_cycle(files: &[(&str, &str)]) -> bool {
    !cycles(&fixture(files).expect("the fixture can be read")).is_empty()
}

#[test]
fn a_cycle_is_found_and_says_which_lines_tie_it() {
    let files = [
        ("lib.rs", "mod block;\nmod encoding;\nmod units;"),
        ("block.rs", "use crate::units::Offset;\n\nuse crate::encoding::decode;"),
        ("encoding.rs", "pub fn decode() -> crate::block::Block { todo!() }"),
        ("units.rs", "pub struct Offset;"),
    ];
    let uses = fixture(&files).expect("the fixture can be read");
    let cycles = cycles(&uses);
    assert_eq!(cycles.len(), 1);
    let report = verdict("crate", &cycles).expect("a cycle is wrong");
    assert!(report.contains("2 modules: block, encoding"), "{report}");
    assert!(report.contains("block.rs:3 → encoding (crate::encoding::decode)"), "{report}");
    assert!(report.contains("encoding.rs:1 → block (crate::block::Block)"), "{report}");
    assert!(!report.contains("units"), "{report}");
    assert_eq!(verdict("crate", &[]), None);
}

#[test]
fn modules_in_one_direction_have_no_cycle() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;"),
        ("a.rs", "pub struct A;"),
        ("b/mod.rs", "mod inner;\nuse crate::a::A;\npub use inner::B;"),
        ("b/inner.rs", "use super::super::a::A;\nuse super::helper;\npub struct B;"),
        ("c.rs", "use crate::b::B;\nuse crate::A;\nuse std::fmt;"),
    ];
    assert!(!has_cycle(&files));
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let inner = pair("b::inner", "b::mod");
    assert_eq!(pairs(&files), [pair("b", "a"), inner, pair("c", "a"), pair("c", "b")]);
}

#[test]
fn a_cycle_between_the_files_of_a_folder_is_found() {
    let files = |first: &'static str, second: &'static str| {
        [
            ("lib.rs", "mod scan;\npub use scan::Scan;"),
            ("scan/mod.rs", "mod plan;\nmod logs;\npub use self::plan::Scan;"),
            ("scan/plan.rs", first),
            ("scan/logs.rs", second),
        ]
    };
    let logs = "use super::logs::Logs;\npub struct Scan;";
    for plan in ["use super::plan::Scan;", "use crate::Scan;", "fn f(_: crate::scan::Scan) {}"] {
        let uses = fixture(&files(logs, plan)).expect("the fixture can be read");
        let cycles = cycles(&uses);
        let report = verdict("crate", &cycles).expect("a cycle is wrong");
        assert_eq!(cycles[0].folder(), "scan");
        assert!(report.contains("scan/plan.rs:1 → scan::logs (super::logs::Logs)"), "{report}");
        assert!(report.contains("scan/logs.rs:1 → scan::plan ("), "{report}");
    }
    assert!(!has_cycle(&files(logs, "pub struct Logs;")));
}

#[test]
fn a_cycle_through_the_file_of_the_folder_is_found() {
    let files = |folder: &'static str, child: &'static str| {
        [("lib.rs", "mod scan;"), ("scan/mod.rs", folder), ("scan/plan.rs", child)]
    };
    let uses_child = "mod plan;\nuse plan::Plan;\npub const MAX: u8 = 1;\nfn f(_: Plan) {}";
    let calls_child = "mod plan;\npub const MAX: u8 = 1;\nfn f() { plan::run() }";
    let exports_child = "mod plan;\npub use plan::Plan;\npub const MAX: u8 = 1;";
    let uses_folder = "const LEN: u8 = super::MAX;";
    assert!(has_cycle(&files(uses_child, uses_folder)));
    assert!(has_cycle(&files(calls_child, uses_folder)));
    assert!(!has_cycle(&files(calls_child, "pub struct Plan;")));
    assert!(!has_cycle(&files(exports_child, uses_folder)));
}

#[test]
fn a_cycle_through_a_name_of_the_root_is_found() {
    assert!(has_cycle(&[
        ("lib.rs", "mod reader;\nmod scanner;\npub use reader::deep::Reader as Opened;"),
        ("reader.rs", "use crate::scanner::Scanner;"),
        ("scanner.rs", "use crate::{Opened};\npub struct Scanner;"),
    ]));
}

#[test]
fn a_cycle_through_nested_modules_is_found() {
    assert!(has_cycle(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a/mod.rs", "mod deep { mod deeper { fn f() { super::super::super::b::g(); } } }"),
        ("b.rs", "mod down;"),
        ("b/down.rs", "use crate::a;"),
    ]));
}

#[test]
fn a_cycle_through_the_text_of_a_macro_is_found() {
    let root = ("lib.rs", "mod a;\nmod b;");
    let b = ("b.rs", "use crate::a::A;");
    let called = "fn f() { assert_eq!(1, crate::b::number()); }";
    let defined = "macro_rules! m { ($x:expr) => { $crate::b::g($x) } }";
    assert!(has_cycle(&[root, ("a.rs", called), b]));
    assert!(has_cycle(&[root, ("a.rs", defined), b]));
    assert!(!has_cycle(&[root, ("a.rs", "fn f() { assert_eq!(1, b::number()); }"), b]));
}

#[test]
fn a_method_that_a_module_adds_to_the_type_of_another_ties_them() {
    let root = ("lib.rs", "mod store;\nmod flush;\npub use store::Store;");
    let flush = "use crate::Store;\nimpl Store { pub fn flush(&self) {} fn roll(&self) {} }";
    let calls = |body: &str| {
        let store = format!(
            "pub struct Store;\nstruct Other;\nimpl Store {{ fn close(&self) {{ {body} }} }}"
        );
        has_cycle(&[root, ("store.rs", &store), ("flush.rs", flush)])
    };
    assert!(calls("self.flush()"), "of itself");
    assert!(calls("Self::flush(self)"), "by its path");
    assert!(calls("other.inner.roll()"), "nothing else has such a method");
    assert!(calls("assert!(self.flush())"), "in a macro");
    assert!(!calls("file.flush()"), "files have such a method as well");
    assert!(!calls("self.close()"), "of the module itself");
}

#[test]
fn tests_and_visibilities_are_no_uses() {
    assert!(!has_cycle(&[
        ("lib.rs", "mod a;\nmod b;"),
        (
            "a.rs",
            "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse crate::b::B;\npub(in crate::b) struct A;"
        ),
        ("a/tests.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests { use super::super::a::A; }"),
    ]));
}

#[test]
fn what_cannot_be_resolved_is_a_problem_and_not_passed_over() {
    let unknown = fixture(&[("lib.rs", "mod a;"), ("a.rs", "\nuse crate::Nowhere;")]);
    assert!(
        unknown.expect_err("unknown")[0].contains("a.rs:2: which module has `crate::Nowhere`?")
    );
    let glob = fixture(&[("lib.rs", "mod a;"), ("a.rs", "use crate::*;")]);
    assert!(glob.is_err());
    let missing = fixture(&[("lib.rs", "mod a;")]);
    assert!(missing.is_err());
}
