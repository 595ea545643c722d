//! What a message advises is done as it says, and helps.

use std::process::Command;

use crate::command_line::{data, text};

/// A command that fails, what its message advises, and the same advice as a script that must succeed.
struct Advice {
    before: &'static str,
    fails: &'static str,
    advises: &'static [&'static str],
    helps: &'static str,
}

const CELLS: &str = r#"
cell() { printf '{"row":"%s","family":"%s","qualifier":"71","ts":1,"type":"Put","value":"31"%s}\n' "$@"; }
"#;

const ADVICE: [Advice; 13] = [
    Advice {
        before: "cell 62 66 '' > cells; cell 61 66 '' >> cells",
        fails: "hfile build --from cells cells --output new",
        advises: &["use --sort to sort cells"],
        helps: "hfile build --from cells cells --output new --sort && hfile verify new",
    },
    Advice {
        before: r#"cell 61 66 ',"tags":[{"type":65,"value":"00"}]' > cells"#,
        fails: "hfile build --from cells cells --output new",
        advises: &["use --includes-tags true to write tags"],
        helps: "hfile build --from cells cells --output new --includes-tags true
            hfile cat --format cells new | grep tags",
    },
    Advice {
        before: "cell 61 66 '' > cells; cell 61 67 '' >> cells",
        fails: "hfile build --from cells cells --output new",
        advises: &["use --bulk-load to write a directory with a file for each family"],
        helps: "hfile build --from cells cells --output new --bulk-load && ls new/f new/g",
    },
    Advice {
        before: "cell 61 66 '' > cells; echo old > new",
        fails: "hfile build --from cells cells --output new",
        advises: &["give another --output, or --force to replace it"],
        helps: "hfile build --from cells cells --output other && hfile build --from cells cells --output new --force",
    },
    Advice {
        before: "",
        fails: "hfile store put s row f:q=1",
        advises: &["create a store with hfile store create DIR FAMILY"],
        helps: "hfile store create s f && hfile store put s row f:q=1",
    },
    Advice {
        before: "hfile store create s f && hfile store put s row f:q=1 && rm s/MANIFEST",
        fails: "hfile store get s row",
        advises: &["list them with hfile store verify DIR", "hfile store salvage DIR NEW"],
        helps: "hfile store verify s | grep -i manifest
            hfile store salvage s new || test $? = 1
            hfile store get new row",
    },
    Advice {
        before: "hfile store create s f && hfile store put s row f:q=1 && hfile store flush s
            file=$(find s -type f -size +200c ! -name '*MANIFEST*' | xargs grep -l DATABLK); printf XXXX | dd of=$file bs=1 seek=40 conv=notrunc",
        fails: "hfile store get s row",
        advises: &["hfile store verify DIR", "hfile store salvage DIR NEW"],
        helps: "hfile store verify s | grep -i damage
            hfile store salvage s new || test $? = 1
            hfile store verify new",
    },
    Advice {
        before: "cp $DATA/s01-default.hfile f && printf XXXX | dd of=f bs=1 seek=4000 conv=notrunc",
        fails: "hfile cat f > cells",
        advises: &["hfile verify FILE", "hfile salvage FILE --output NEW"],
        helps: "hfile verify f | grep 'may be missing'
            hfile salvage f --output new || test $? = 1
            hfile verify new",
    },
    Advice {
        before: "cp $DATA/p04-none-none-none.hfile f",
        fails: "hfile filter measure f",
        advises: &["add one with hfile filter rebuild"],
        helps: "hfile filter rebuild f --kind ribbon --output new && hfile filter measure new",
    },
    Advice {
        before: "printf 'id,v\\na,7\\n' > csv",
        fails: "hfile build --from csv csv --output new --row id --family f --timestamp 2023",
        advises: &["write a date as 2023-11-14, or milliseconds as 02023"],
        helps: "for time in 2023-11-14 02023; do
                hfile build --from csv csv --output $time --row id --family f --timestamp $time
            done",
    },
    Advice {
        before: "cp $DATA/s01-default.hfile f; touch row",
        fails: "hfile get f row",
        advises: &["give a row of that name as hex:726f77"],
        helps: "hfile get f hex:726f77 2>&1 | grep 'row not found: row'",
    },
    Advice {
        before: "printf 'id,5\\na,7\\n' > csv",
        fails: "hfile build --from csv csv --output new --row id --timestamp 5 --family f",
        advises: &["write column:5 for the column, or 05 for"],
        helps: "hfile build --from csv csv --output new --row id --timestamp 05 --family f
            printf 'id,5,v\\na,7,x\\n' > csv
            hfile build --from csv csv --output other --row id --timestamp column:5 --family f",
    },
    Advice {
        before: "printf 'id,v,w\\na,7,8\\n' > csv",
        fails: "hfile build --from csv csv --output new --row id",
        advises: &[
            "set one with --column NAME=FAMILY:QUALIFIER, one for all with --family, or leave columns out with --ignore",
        ],
        helps: "build='hfile build --from csv csv --row id --output'
            $build a --column v=f:v --column w=f:w && $build b --family f && $build c --column v=f:v --ignore w",
    },
];

/// Runs a script in bash, in which `hfile` is the binary; returns its status and what it printed.
fn bash(script: &str, directory: &std::path::Path) -> (bool, String) {
    let prelude = format!(
        "set -e; hfile() {{ '{}' \"$@\"; }}; DATA='{}'; {CELLS}",
        env!("CARGO_BIN_EXE_hfile"),
        data().display()
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{prelude}\n{script}")]).current_dir(directory);
    let output = bash.output().expect("there is a shell");
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn what_a_message_advises_helps() {
    for Advice { before, fails, advises, helps } in ADVICE {
        let directory = tempfile::tempdir().expect("a place for the test");
        let (made, told) = bash(before, directory.path());
        assert!(made, "{before}: {told}");
        let (succeeded, told) = bash(fails, directory.path());
        assert!(!succeeded, "{fails}: {told}");
        for advised in advises {
            assert!(told.contains(advised), "{fails} does not advise {advised:?}: {told}");
        }
        let (helped, told) = bash(helps, directory.path());
        assert!(helped, "{helps}: {told}");
    }
}
