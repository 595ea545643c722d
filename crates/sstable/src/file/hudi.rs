//! Files of Apache Hudi's own writer: where they differ from those of HBase.
//!
//! Hudi names its order of bytes by [`COMPARATORS`]. Files under these names may differ in these points:
//!
//! | part of the file       | Hudi                                                                     |
//! |------------------------|--------------------------------------------------------------------------|
//! | `hfile.LASTKEY`        | only the row with its length; no family, timestamp and type              |
//! | key of an index entry  | the same in files of Hudi 1.1                                            |
//! | length of that key     | a vint in files of Hudi 1.1, an hvlong in later ones; they differ from   |
//! |                        | 128 bytes on                                                             |
//! | `previous` in a header | the block's own offset in files of Hudi 1.1; −1 in blocks without cells  |
//! | last data block        | offset 0 in a file without cells                                         |
//! | names of META blocks   | in no order; lengths as in the data index                                |
//! | sizes in the trailer   | `uncompressed_data_index_size` is that of the data, the total is absent  |
//! | `hfile.AVG_KEY_LEN`    | of the rows alone                                                        |
//!
//! Cells have no family and no qualifier, [`Timestamp::LATEST`] and the type `Put`, so a row is enough
//! for a key. Such keys are completed here; the rest of the crate sees keys as HBase writes them.
//! Older Hudi wrote its files with HBase's writer. Those files have a name of Hudi, and none of the differences.

use std::borrow::Cow;

use cells::{CellType, KeyRef, Timestamp};

use crate::block::index_entry::{IndexEntry, LengthForm};
use crate::encoding::DamageReason;
use crate::input::Input;

/// Hudi's names for the order of bytes: in its base files, and in the index of a bootstrapped table.
pub(crate) const COMPARATORS: [&str; 2] = [
    "org.apache.hudi.io.storage.HoodieHBaseKVComparator",
    "org.apache.hudi.common.bootstrap.index.HFileBootstrapIndex$HoodieKVComparator",
];

/// Completes a key that is only a row with its length. Returns any other key as is.
pub(super) fn complete_key(key: &[u8]) -> Cow<'_, [u8]> {
    let mut input = Input::new(key);
    let row = input.u16().and_then(|len| input.take(len.into()));
    let Some(row) = row.filter(|row| input.is_empty() && row.len() <= KeyRef::ROW_LEN_MAX) else {
        return Cow::Borrowed(key);
    };
    let whole = KeyRef {
        row,
        family: b"",
        qualifier: b"",
        timestamp: Timestamp::LATEST,
        type_code: CellType::Put.code(),
    };
    let mut flat = Vec::new();
    whole.write_flat(&mut flat);
    Cow::Owned(flat)
}

/// Returns how a root states the lengths of its keys.
///
/// `entries_len` is the length of the root without what follows its entries. If the entries fit both
/// forms and differ, neither is certain, which is an error.
pub(super) fn length_form(
    body: &[u8],
    count: usize,
    entries_len: usize,
) -> Result<LengthForm, DamageReason> {
    let entries = body.get(..entries_len).ok_or("the index entries exceed the block")?;
    match [LengthForm::Hvlong, LengthForm::Vint].map(|form| read_all(entries, count, form)) {
        [Some(one), Some(other)] if one != other => Err("its keys fit two forms of lengths".into()),
        [None, Some(_)] => Ok(LengthForm::Vint),
        // If no form fits, the usual one says why.
        _ => Ok(LengthForm::Hvlong),
    }
}

/// Reads a root whose entries take all bytes; `None` if they do not.
fn read_all(entries: &[u8], count: usize, form: LengthForm) -> Option<Vec<IndexEntry<'_>>> {
    let mut input = Input::new(entries);
    let all = (0..count).map(|_| IndexEntry::read_root(&mut input, form));
    let all = all.collect::<Result<_, _>>().ok()?;
    input.is_empty().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{write_hvlong, write_vint};

    /// A root with a key of each length, whose lengths are written by `write`.
    fn root(lens: &[usize], write: fn(&mut Vec<u8>, usize)) -> Vec<u8> {
        let mut body = Vec::new();
        for (number, len) in lens.iter().enumerate() {
            body.extend_from_slice(&(number as u64 * 100).to_be_bytes());
            body.extend_from_slice(&100_u32.to_be_bytes());
            write(&mut body, *len);
            body.extend(std::iter::repeat_n(b'k', *len));
        }
        body
    }

    fn hvlong(out: &mut Vec<u8>, len: usize) {
        write_hvlong(out, len as i64);
    }

    fn vint(out: &mut Vec<u8>, len: usize) {
        write_vint(out, len as u32);
    }

    #[test]
    fn the_form_of_lengths_follows_from_where_the_entries_end() {
        for lens in [&[3, 127][..], &[128], &[40, 143, 255, 256, 3], &[20_000, 5], &[]] {
            let form = |body: &[u8]| length_form(body, lens.len(), body.len());
            assert_eq!(form(&root(lens, hvlong)), Ok(LengthForm::Hvlong), "{lens:?}");
            let is_long = lens.iter().any(|len| *len > 127);
            let expected = if is_long { LengthForm::Vint } else { LengthForm::Hvlong };
            assert_eq!(form(&root(lens, vint)), Ok(expected), "{lens:?}");
        }
    }

    /// The first length is 155 as an hvlong, and 19,855 as a vint whose third byte is in the key.
    #[test]
    fn entries_that_fit_two_forms_are_refused() {
        let mut body = root(&[155, 19_704], hvlong);
        body[14] = 1;
        let at = 15 + 19_855;
        body[at..at + 12].fill(0);
        body[at + 12] = 5;
        assert_eq!(body.len(), at + 18);
        assert_eq!(
            length_form(&body, 2, body.len()),
            Err("its keys fit two forms of lengths".into())
        );
        body[at + 12] = 6;
        assert_eq!(length_form(&body, 2, body.len()), Ok(LengthForm::Hvlong));
    }

    #[test]
    fn a_row_with_its_length_becomes_a_key_and_other_keys_stay() {
        let whole = complete_key(b"\0\x03row");
        let key = KeyRef::parse(&whole).expect("a key");
        assert_eq!((key.row, key.timestamp, key.type_code), (&b"row"[..], Timestamp::LATEST, 4));
        assert_eq!(complete_key(&whole), whole, "complete already");
        for other in [&b""[..], b"\0", b"\0\x03ro", b"\0\x03rows", b"\x80\0"] {
            assert_eq!(complete_key(other), other);
        }
        assert!(KeyRef::parse(&complete_key(b"\0\0")).is_some_and(|key| key.row.is_empty()));
    }
}
