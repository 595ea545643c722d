//! The JSON objects of the reference pages, and the commands that print such objects.

use crate::page::Page;
use crate::runner::{Scratch, compare_json};

/// A section of a page, and the commands whose output its JSON blocks show.
///
/// Each object of the section must have the fields of an object that one of the commands prints.
struct Shown {
    page: &'static str,
    section: &'static str,
    commands: &'static [&'static str],
}

const COMMAND_LINE: &str = "docs/src/reference/command-line.md";

const fn of_command_line(section: &'static str, commands: &'static [&'static str]) -> Shown {
    Shown { page: COMMAND_LINE, section, commands }
}

const SHOWN: [Shown; 21] = [
    of_command_line(
        "bench",
        &["hfile bench --json --rows 2000 --files 2 --gets 100 --filters none,ribbon"],
    ),
    of_command_line("info", &["hfile info --json part-0.hfile"]),
    of_command_line("layout", &["hfile layout --json --keys tests/data/hfile/s03-one-cell.hfile"]),
    of_command_line(
        "stats",
        &["hfile stats --json tests/data/hfile/s10-tags-compressed-diff.hfile"],
    ),
    of_command_line("verify", &["hfile verify --json bad.hfile"]),
    of_command_line("get", &["hfile get --json region/cf/* row00001"]),
    of_command_line("find", &["hfile find --json region/cf/* row00001"]),
    of_command_line("diff", &["hfile diff --json part-0.hfile small.hfile"]),
    of_command_line(
        "build",
        &[
            "printf 'id,n\\na,1\\nb,2\\n' > n.csv",
            "hfile build --json --from csv n.csv --row id --family f --output n.hfile",
            "hfile build --json --from csv n.csv --row id --family f --output out --splits b",
        ],
    ),
    of_command_line(
        "recompress",
        &[
            "hfile recompress --json small.hfile",
            "hfile recompress --json small.hfile --compression LZ4 --output new.hfile",
        ],
    ),
    of_command_line("salvage", &["hfile salvage --json bad.hfile --output saved.hfile"]),
    of_command_line(
        "filter",
        &[
            "hfile filter size --json --keys 1000 --widths",
            "hfile filter measure --json --kind cuckoo --keys 2000 --probes 2000",
            "hfile filter rebuild --json small.hfile --output rebuilt.hfile --kind cuckoo",
            "hfile filter make --json --kind ribbon --input keys.txt --output keys.filter",
            "hfile filter foreign make --json --format hadoop-dynamic --input keys.txt --output a.bloom",
            "hfile filter foreign info --json --format hadoop-dynamic a.bloom",
            "hfile filter foreign ask --json --format hadoop-dynamic a.bloom row1 none1 none2 none3",
        ],
    ),
    of_command_line(
        "store reports",
        &[
            "hfile store create --json s f --versions 3",
            "hfile store create s g >&2",
            "hfile store alter --json s f --versions 5",
            "hfile store drop-family --json s g",
            "hfile store put --json s row1 f:a=1 f:b=2",
            "hfile store increment --json s f row1 c",
            "hfile store flush --json s",
            "hfile store checkpoint --json s BACKUP",
        ],
    ),
    of_command_line(
        "snapshot and table",
        &[
            "tar xzf tests/data/snapshots/rootdir.tar.gz",
            "hfile snapshot ls --json --root rootdir",
            "hfile table ls --json --root rootdir",
            "hfile table info --json --root rootdir t6",
            "truncate -s 100 rootdir/data/default/t1/40ab6300693e3f01d37da6c46414d9c8/f1/ae2f13309e3c4513a14a467a6e28783d",
            "hfile snapshot verify --json --root rootdir s2",
        ],
    ),
    of_command_line(
        "Lists of a store file tracker",
        &[
            "tar xzf tests/data/snapshots/rootdir.tar.gz",
            "printf x | dd of=rootdir/data/default/t5/1bc192e1c1ff9049e743103c3534b32c/g/.filelist/f2 bs=1 seek=20 conv=notrunc status=none",
            "hfile table filelist --json --root rootdir t5 --rebuild --output lists",
        ],
    ),
    of_command_line(
        "wal",
        &[
            "hfile wal info --json tests/data/wal/plain.open",
            "hfile wal cat --format entries tests/data/wal/plain.open",
            "head -c 1000 tests/data/wal/plain.open > torn; hfile wal verify --json torn",
        ],
    ),
    of_command_line(
        "store stats and explain",
        &[
            "hfile store create s f --family-map WIDE >&2",
            "hfile store import s f part-0.hfile >&2",
            "hfile store stats --json --with-map s",
        ],
    ),
    of_command_line(
        "store verify",
        &[
            "hfile store create s f >&2",
            "hfile store import s f part-0.hfile >&2",
            "hfile cat --format cells --limit 30 part-0.hfile | hfile store put s f --batch 10 --from cells - >&2",
            "printf x | dd of=$(ls s/wal/*) bs=1 seek=300 conv=notrunc status=none",
            "touch s/f/77aa.new",
            "hfile store verify --json s",
        ],
    ),
    Shown {
        page: "docs/src/guides/from-importtsv.md",
        section: "Bad lines",
        commands: &[
            "printf 'id,name,age\\nann,Ann,41\\n,Bo,7\\n' > users.csv",
            "hfile build --json --dry-run --from csv users.csv --row id --family info --output users.hfile",
        ],
    },
    Shown {
        page: "docs/src/reference/format.md",
        section: "Cells as text",
        commands: &["hfile cat --format cells tests/data/hfile/s10-tags-compressed-diff.hfile"],
    },
    Shown { page: "docs/src/guides/write-hfiles.md", section: "Settings", commands: &[] },
];

/// The names of the samples that the commands read.
const SAMPLES: &str = "part-0.hfile bad.hfile small.hfile region/cf keys.txt tests/data";

/// Returns the objects of the pages that no command prints in this form.
///
/// Compares every JSON block, except blocks of pages whose own commands print them.
pub(crate) fn problems(pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    for Shown { page, section, commands } in &SHOWN {
        let page = pages.iter().find(|known| known.name == *page).expect("the page exists");
        let blocks: Vec<_> =
            page.blocks("json").filter(|block| block.section == *section).collect();
        if blocks.is_empty() {
            wrong.push(format!("{}: {section} has no JSON block", page.name));
        }
        let scratch = Scratch::new(SAMPLES);
        let run = |command: &&str| scratch.run_for_stdout(command);
        let output: String = commands.iter().map(run).collect();
        for block in blocks.iter().filter(|_| !commands.is_empty()) {
            let problem = compare_json(&block.text(), &output);
            let place = format!("{}:{}", page.name, block.line);
            wrong.extend(problem.map(|problem| format!("{place}: {problem}")));
        }
    }
    let reference = pages.iter().find(|page| page.name == COMMAND_LINE).expect("the page exists");
    for block in reference.blocks("json") {
        if !SHOWN.iter().any(|shown| shown.page == COMMAND_LINE && shown.section == block.section) {
            let place = format!("{COMMAND_LINE}:{}", block.line);
            wrong.push(format!("{place}: add the command of {} to SHOWN", block.section));
        }
    }
    wrong
}
