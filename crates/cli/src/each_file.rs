//! The same work for each of many files: one that fails does not keep the others from being done.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::failure::{Answer, is_of_output_or_usage, status, told};
use crate::size_text::show_number;
use crate::stderr::say;

/// How the work went for the files done so far.
#[derive(Default)]
pub(crate) struct Outcomes {
    has_no: bool,
    unread_count: u64,
    last_said: Option<String>,
}

impl Outcomes {
    /// Counts what became of a file; says on stderr why one failed.
    ///
    /// # Errors
    ///
    /// A failure that is not the file's: stdout takes nothing more, or the arguments are wrong.
    pub(crate) fn take(&mut self, outcome: anyhow::Result<Answer>) -> anyhow::Result<()> {
        match outcome {
            Ok(answer) => self.has_no |= answer == Answer::No,
            Err(error) if is_of_output_or_usage(&error) => return Err(error),
            Err(error) => {
                self.say(&told(&error));
                match status(&error) {
                    1 => self.has_no = true,
                    _ => self.unread_count += 1,
                }
            }
        }
        Ok(())
    }

    /// Says what happened; what to do next only if it differs from what was said before.
    fn say(&mut self, message: &str) {
        match message.split_once("\nnext: ") {
            Some((what, next)) if self.last_said.as_deref() == Some(next) => say(what),
            Some((_, next)) => {
                say(message);
                self.last_said = Some(next.to_owned());
            }
            None => say(message),
        }
    }

    /// The answer for all `count` files.
    ///
    /// # Errors
    ///
    /// If some could not be read, which weighs more than damage.
    pub(crate) fn conclude(self, count: usize) -> anyhow::Result<Answer> {
        if self.unread_count > 0 {
            bail!(
                "{} of {} could not be read",
                self.unread_count,
                show_number(count as u64, "file")
            );
        }
        Ok(Answer::from_bool(!self.has_no))
    }
}

/// Does the same work for each file, in their order. A single file's failure is returned as it is.
pub(crate) fn for_each_file(
    files: &[PathBuf],
    mut work: impl FnMut(&Path) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    if let [file] = files {
        return work(file);
    }
    let mut outcomes = Outcomes::default();
    for file in files {
        outcomes.take(work(file))?;
    }
    outcomes.conclude(files.len())
}
