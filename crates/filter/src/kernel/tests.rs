//! Every instruction set gives the answers of the portable code.

use alloc::vec;
use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::column_vectors::LANES;
use super::instruction_set::InstructionSet;
use super::line::LINE_PROBES_MAX;
use super::operations::{Operations, Portable};
use super::substitution::Slots;
use super::{Line, Probes, block_insert, counters_raise, line_insert};
use crate::hash::KeyHash;

/// Not a test of the code: names the sets whose code the other tests do not run on this processor.
#[cfg(feature = "std")]
#[test]
fn the_output_names_each_instruction_set_that_is_not_tested() {
    extern crate std;
    use std::io::Write;

    let is_available = |is_wanted: fn(&InstructionSet) -> bool| {
        InstructionSet::available().any(|set| is_wanted(&set))
    };
    for (name, is_available) in [
        ("sse2", is_available(|set| matches!(set, InstructionSet::Sse2(_)))),
        ("avx2", is_available(|set| matches!(set, InstructionSet::Avx2(_)))),
        ("avx512", is_available(|set| matches!(set, InstructionSet::Avx512(_)))),
    ] {
        if !is_available {
            let notice = std::format!(
                "kernels: {name} is not available on this processor: its kernels were not run\n"
            );
            // Written to the stream itself: the test runner holds back what `println` prints.
            let _ = std::io::stdout().write_all(notice.as_bytes());
        }
    }
}

/// Compares the answers of all sets for `line`, which is `full` with one field cleared; `full`
/// holds the members.
fn lines_agree<const FIELD_BITS: u32>(
    (full, line): (&Line, &Line),
    (members, hashes): (&[KeyHash], &[KeyHash]),
    probes: Probes,
) -> Result<(), TestCaseError> {
    let lines = [*line, [0x55; 64], [0xff; 64]];
    let mut expected = vec![true; hashes.len()];
    Portable.lines_contain::<FIELD_BITS>(&lines, hashes, probes, &mut expected);
    for set in InstructionSet::available() {
        for member in members {
            prop_assert!(set.line_contains::<FIELD_BITS>(full, member.get(), probes));
        }
        for hash in hashes {
            prop_assert_eq!(
                set.line_contains::<FIELD_BITS>(line, hash.get(), probes),
                Portable.line_contains::<FIELD_BITS>(line, hash.get(), probes),
                "{:?}",
                set
            );
        }
        let mut answers = vec![false; hashes.len()];
        set.lines_contain::<FIELD_BITS>(&lines, hashes, probes, &mut answers);
        prop_assert_eq!(&answers, &expected, "{:?}", set);
    }
    Ok(())
}

fn hashes() -> impl Strategy<Value = Vec<KeyHash>> {
    vec(any::<u64>().prop_map(KeyHash::from_u64), 1..60)
}

proptest! {
    /// Absent keys, members, and members that lack one bit.
    #[test]
    fn every_set_reads_a_line_of_bits_alike(
        fill in prop_oneof![Just(0_u8), Just(0xff), any::<u8>()],
        members in hashes(),
        absent in hashes(),
        probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
        cleared in 0..512_usize,
    ) {
        let mut full = [fill; 64];
        for member in &members {
            line_insert(&mut full, member.get(), probes);
        }
        let mut line = full;
        line[cleared / 8] &= !(1 << (cleared % 8));
        let all = [members.as_slice(), &absent].concat();
        lines_agree::<1>((&full, &line), (&members, &all), probes)?;
    }

    /// Absent keys, members, and members one of whose counters is zero.
    #[test]
    fn every_set_reads_a_line_of_counters_alike(
        fill in prop_oneof![Just(0_u8), Just(0xff), any::<u8>()],
        members in hashes(),
        absent in hashes(),
        probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
        cleared in 0..128_usize,
    ) {
        let mut full = [fill; 64];
        for member in &members {
            counters_raise(&mut full, member.get(), probes);
        }
        let mut line = full;
        line[cleared / 2] &= 0xf0 >> (cleared % 2 * 4);
        let all = [members.as_slice(), &absent].concat();
        lines_agree::<4>((&full, &line), (&members, &all), probes)?;
    }

    #[test]
    fn every_set_reads_a_block_alike(
        members in hashes(),
        absent in hashes(),
        cleared in 0..256_usize,
    ) {
        let mut full = [0; 32];
        for member in &members {
            block_insert(&mut full, member.get());
        }
        let mut block = full;
        block[cleared / 8] &= !(1 << (cleared % 8));
        let all = [members.as_slice(), &absent].concat();
        let blocks = [block, [0xff; 32], [0x55; 32], full];
        let mut expected = vec![true; all.len()];
        Portable.blocks_contain(&blocks, &all, &mut expected);
        for set in InstructionSet::available() {
            for member in &members {
                prop_assert!(set.block_contains(&full, member.get()));
            }
            for hash in &all {
                prop_assert_eq!(
                    set.block_contains(&block, hash.get()),
                    Portable.block_contains(&block, hash.get()),
                    "{:?}", set
                );
            }
            let mut answers = vec![false; all.len()];
            set.blocks_contain(&blocks, &all, &mut answers);
            prop_assert_eq!(&answers, &expected, "{:?}", set);
        }
    }

    /// The slots solve their rows, checked row by row and bit by bit.
    #[test]
    fn every_set_substitutes_slots_that_solve_their_rows(
        before in vec(any::<Slots>(), 4),
        rows in vec((any::<u64>(), any::<u32>()), 0..=70),
        groups in 0..=4_usize,
    ) {
        // Bit 0 is the slot itself, so every row has that coefficient.
        let (coefficients, fingerprints): (Vec<u64>, Vec<u32>) =
            rows.iter().map(|(coefficients, fingerprint)| (coefficients | 1, *fingerprint)).unzip();
        for set in InstructionSet::available() {
            let mut columns = before[..groups].to_vec();
            for row in (0..rows.len()).rev() {
                let last = columns.clone();
                set.substitute(&mut columns, &coefficients[row..=row], &fingerprints[row..=row]);
                let pairs = columns.iter().flatten().zip(last.iter().flatten());
                for (column, (now, then)) in pairs.enumerate() {
                    prop_assert_eq!(now & !1, then << 1);
                    let odd = (now & coefficients[row]).count_ones() & 1;
                    prop_assert_eq!(odd, fingerprints[row] >> column & 1, "{:?}", set);
                }
            }
            let mut together = before[..groups].to_vec();
            set.substitute(&mut together, &coefficients, &fingerprints);
            prop_assert_eq!(&together, &columns, "{:?}", set);
        }
    }
}

#[test]
fn a_slot_without_a_row_becomes_zero() {
    for set in InstructionSet::available() {
        let mut columns = [[u64::MAX; LANES]];
        set.substitute(&mut columns, &[0], &[0]);
        assert_eq!(columns, [[!1; LANES]], "{set:?}");
    }
}
