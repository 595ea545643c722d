//! A store that holds the file, and the ways of reading it there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use sstable::Cell;
use store::vfs::Vfs;
use store::{Age, FamilyOptions, Get, Scan, Store, StoreOptions};

use super::{Answer, Questions, Way};
use crate::disk::Disk;

/// A store that holds the file, and the answers of the sound store.
pub(super) struct InStore {
    disk: Disk,
    file: PathBuf,
    answers: Vec<(Way, Vec<Answer>)>,
}

const STORE: &str = "/data/store";

impl InStore {
    /// Makes a store that holds the file, if a store can hold it.
    pub(super) fn of(questions: &Questions) -> Option<Self> {
        let family = questions.sound.cells.first()?.family();
        let name = std::str::from_utf8(family).ok()?;
        let disk = Disk::default();
        let path = Path::new("/file");
        drop(disk.create(path).expect("a new file"));
        disk.overwrite(path, &questions.sound.bytes);
        let store = Store::open(STORE, options(&disk)).expect("an empty disk");
        store.create_family(name, FamilyOptions::default().versions(100)).expect("a new family");
        store.import(name, &[path.to_path_buf()], Age::Newest).ok()?;
        drop(store);
        let mut files = disk.paths().into_iter();
        let file = files.find(|path| path.parent() == Some(&Path::new(STORE).join(name)))?;
        let mut in_store = Self { disk, file, answers: Vec::new() };
        let store = Store::open(STORE, options(&in_store.disk)).expect("a sound store");
        for way in Way::ALL {
            let answers = questions_of(questions, way).into_iter().map(|question| {
                let (expected, outcome) = question.ask(&store);
                outcome.expect("a sound store answers");
                Answer::new(way.to_string(), expected, (Vec::new(), Ok(())))
            });
            in_store.answers.push((way, answers.collect()));
        }
        Some(in_store)
    }

    /// Asks a copy of the store whose file has other bytes; fails if the store cannot be opened.
    pub(super) fn ask(
        &self,
        questions: &Questions,
        way: Way,
        bytes: &Bytes,
    ) -> Result<Vec<Answer>, String> {
        let disk = self.disk.after_kill();
        disk.overwrite(&self.file, bytes);
        let store = Store::open(STORE, options(&disk)).map_err(|error| error.to_string())?;
        let expected = self.answers.iter().find(|(known, _)| *known == way);
        let (_, expected) = expected.expect("the sound store was asked in every way");
        let questions = questions_of(questions, way).into_iter().zip(expected);
        Ok(questions
            .map(|(question, Answer { expected, .. })| {
                let (found, outcome) = question.ask(&store);
                let (question, failed) = (format!("{question:?}"), outcome.is_err());
                Answer { question, expected: expected.clone(), found, failed, is_cut: false }
            })
            .collect())
    }
}

/// Returns the questions for one way.
fn questions_of(questions: &Questions, way: Way) -> Vec<Question> {
    let rows = questions.rows.iter().cloned();
    match way {
        Way::StoreGet => rows.map(Question::Get).collect(),
        Way::StoreMultiGet => vec![Question::MultiGet(questions.rows.clone())],
        Way::StoreScan => vec![Question::Scan { reversed: false, prefix: Vec::new() }],
        Way::StoreReverse => vec![Question::Scan { reversed: true, prefix: Vec::new() }],
        Way::StorePrefix => questions
            .rows
            .iter()
            .step_by(4)
            .flat_map(|row| questions.prefix_lens(row).map(|len| row[..len].to_vec()))
            .map(|prefix| Question::Scan { reversed: false, prefix })
            .collect(),
        _ => Vec::new(),
    }
}

/// A question for the store.
#[derive(Debug)]
enum Question {
    Get(Vec<u8>),
    MultiGet(Vec<Vec<u8>>),
    Scan { reversed: bool, prefix: Vec<u8> },
}

impl Question {
    fn ask(&self, store: &Store) -> (Vec<Cell>, store::Result<()>) {
        let all_versions = |row: &Vec<u8>| Get::row(row).versions(100);
        match self {
            Self::Get(row) => split(store.get(&all_versions(row))),
            Self::MultiGet(rows) => {
                let gets: Vec<_> = rows.iter().map(all_versions).collect();
                split(store.multi_get(&gets).map(|cells| cells.concat()))
            }
            Self::Scan { reversed, prefix } => {
                let (family, _) = store.families().into_iter().next().expect("one family");
                let scan = Scan::family(family).versions(100).reverse(*reversed);
                let scan = if prefix.is_empty() { scan } else { scan.prefix(prefix) };
                let mut cells = match store.scan(scan) {
                    Ok(cells) => cells,
                    Err(error) => return (Vec::new(), Err(error)),
                };
                let mut found = Vec::new();
                loop {
                    match cells.next_ref() {
                        Ok(Some(cell)) => {
                            assert!(found.len() < super::ENDLESS, "a scan that does not end");
                            found.push(cell.to_cell());
                        }
                        Ok(None) => return (found, Ok(())),
                        Err(error) => return (found, Err(error)),
                    }
                }
            }
        }
    }
}

fn split(answer: store::Result<Vec<Cell>>) -> (Vec<Cell>, store::Result<()>) {
    match answer {
        Ok(cells) => (cells, Ok(())),
        Err(error) => (Vec::new(), Err(error)),
    }
}

fn options(disk: &Disk) -> StoreOptions {
    StoreOptions::default().vfs(Arc::new(disk.clone())).auto_compaction(false)
}
