//! Which cells a batch scan reads: rows, columns, versions and times.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use sstable::Timestamp;
use store::FamilyOptions;
use store::rules::{Rules, View};

/// Which cells a scan reads. The fields are those of [`BatchScan`](crate::BatchScan).
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) start: Option<Vec<u8>>,
    pub(crate) stop: Option<Vec<u8>>,
    pub(crate) prefix: Option<Vec<u8>>,
    pub(crate) families: Vec<Vec<u8>>,
    pub(crate) columns: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) versions: u32,
    pub(crate) time_range: Option<(Timestamp, Timestamp)>,
    pub(crate) raw: bool,
    pub(crate) now: Option<Timestamp>,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            start: None,
            stop: None,
            prefix: None,
            families: Vec::new(),
            columns: Vec::new(),
            versions: u32::MAX,
            time_range: None,
            raw: false,
            now: None,
        }
    }
}

impl Selection {
    /// Returns the first row of the range, with the prefix.
    pub(crate) fn first_row(&self) -> &[u8] {
        self.start.as_deref().max(self.prefix.as_deref()).unwrap_or_default()
    }

    /// Returns the row before which the range ends, with the prefix; `None` if it has no end.
    pub(crate) fn end_row(&self) -> Option<Cow<'_, [u8]>> {
        let stop = self.stop.as_deref().map(Cow::Borrowed);
        let end = self.prefix.as_deref().and_then(prefix_end).map(Cow::Owned);
        [stop, end].into_iter().flatten().min()
    }

    /// Returns whether cells of the family may be wanted.
    pub(crate) fn wants_family(&self, family: &[u8]) -> bool {
        let is_unlimited = self.families.is_empty() && self.columns.is_empty();
        is_unlimited
            || self.families.iter().any(|wanted| wanted == family)
            || self.columns.iter().any(|(wanted, _)| wanted == family)
    }

    /// Returns the wanted qualifiers of a family, ascending; `None` if all are wanted.
    pub(crate) fn qualifiers(&self, family: &[u8]) -> Option<Vec<Vec<u8>>> {
        if self.families.iter().any(|wanted| wanted == family) || self.columns.is_empty() {
            return None;
        }
        let of_family = self.columns.iter().filter(|(wanted, _)| wanted == family);
        let mut qualifiers: Vec<_> = of_family.map(|(_, qualifier)| qualifier.clone()).collect();
        qualifiers.sort_unstable();
        qualifiers.dedup();
        Some(qualifiers)
    }

    /// Returns the rules for the cells of one file, whose family's settings are unknown.
    ///
    /// `None` if all cells are wanted.
    pub(crate) fn rules_of_file(&self, qualifiers: Option<&[Vec<u8>]>) -> Option<Rules<'static>> {
        if self.raw
            && self.time_range.is_none()
            && self.versions == u32::MAX
            && qualifiers.is_none()
        {
            return None;
        }
        let mut view = View::default().versions(self.versions).raw(self.raw);
        if let Some((min, max)) = self.time_range {
            view = view.time_range(min, max);
        }
        let family = FamilyOptions::default().versions(u32::MAX);
        let rules = Rules::new(&family, &view, self.now.unwrap_or_else(now));
        Some(qualifiers.unwrap_or_default().iter().fold(rules, Rules::column))
    }
}

/// Returns the system's time.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::new(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the least row above all rows that begin with `prefix`; `None` if there is none.
fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut row = prefix[..=last].to_vec();
    row[last] += 1;
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_narrows_the_range() {
        let selection = |start: &str, stop: &str, prefix: &[u8]| {
            let row = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
            let prefix = (!prefix.is_empty()).then(|| prefix.to_vec());
            let selection =
                Selection { start: row(start), stop: row(stop), prefix, ..Selection::default() };
            let end = selection.end_row().map(Cow::into_owned);
            (selection.first_row().to_vec(), end)
        };
        assert_eq!(selection("", "", b""), (vec![], None));
        assert_eq!(selection("b", "d", b"c"), (b"c".to_vec(), Some(b"d".to_vec())));
        assert_eq!(selection("cx", "cy", b"c"), (b"cx".to_vec(), Some(b"cy".to_vec())));
        assert_eq!(selection("", "", b"c\xff"), (b"c\xff".to_vec(), Some(b"d".to_vec())));
        assert_eq!(selection("", "", b"\xff"), (b"\xff".to_vec(), None));
    }
}
