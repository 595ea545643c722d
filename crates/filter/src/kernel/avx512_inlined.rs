//! The inner loops in AVX-512 that stand where a filter is asked, without a call.
//!
//! A function of the compiler's for these instructions cannot be inlined into code that has to run
//! without them; and where a lookup does hardly anything but wait for a line that no near cache holds,
//! it is the call, the constants loaded anew and the clean-up after it (`vzeroupper`) that decide how
//! many such lines the processor waits for at once. As assembly the same instructions may stand
//! anywhere, and a loop around them keeps its constants in registers. Three rules make it pay:
//!
//! * Vectors 16 to 31 only. Older instructions cannot touch them, so nothing has to be cleaned up.
//! * The last instruction is a jump. A mask that is turned into a number, and that into a sum, waits for
//!   the line as well, and a processor has room for about a hundred instructions that wait.
//! * What does not need the line comes first.
#![allow(unsafe_code, reason = "assembly")]

use core::arch::asm;
use core::mem::offset_of;

use super::columns::{ColumnMask, Key, MatchColumns, Vectors};
use super::portable::{
    BLOCK_SALTS, Block, LINE_MULTIPLIERS, LINE_SEED_BITS, LINE_SEED_FACTOR, Line, Probes,
};
use super::x86::Avx512;

/// What a lookup in a line needs, in one place, so that it takes one register to find it.
#[repr(C, align(64))]
struct LineConstants {
    multipliers: [u32; 16],
    /// A field with all its bits.
    field: u32,
    /// The bits of a place that say where in its word a field begins.
    within_word: u32,
    seed_factor: u64,
    seed_bits: u64,
}

impl LineConstants {
    const fn new(field_bits: u32) -> Self {
        let Some(multipliers) = LINE_MULTIPLIERS.first_chunk() else { unreachable!() };
        let (field, within_word) = ((1 << field_bits) - 1, u32::BITS - field_bits);
        let (seed_factor, seed_bits) = (LINE_SEED_FACTOR, LINE_SEED_BITS);
        Self { multipliers: *multipliers, field, within_word, seed_factor, seed_bits }
    }
}

static OF_BITS: LineConstants = LineConstants::new(1);
static OF_COUNTERS: LineConstants = LineConstants::new(4);

/// The same for a split block.
#[repr(C, align(64))]
struct BlockConstants {
    salts: [u32; 8],
    bit: u32,
}

static OF_BLOCKS: BlockConstants = BlockConstants { salts: BLOCK_SALTS, bit: 1 };

/// The steps of the [`avx512`](super::avx512) lookup in a line, for up to sixteen probes; of fields of
/// several bits with one step more.
macro_rules! line_contains {
    ($line:expr, $hash:expr, $probes:expr, $constants:expr $(, $within_word:literal)?) => {
        // SAFETY: the caller has proof that the processor has AVX-512 F. 64 bytes of the line and the
        // constants, which are as long as the offsets say, are read, and nothing is written but the
        // registers that are named here, which includes all that the jump leaves behind.
        unsafe {
            asm!(
                "imul {seeds}, qword ptr [{constants} + 72]",
                "or {seeds}, qword ptr [{constants} + 80]",
                "vpbroadcastq zmm16, {seeds}",
                "vpmulld zmm16, zmm16, zmmword ptr [{constants}]",
                "vpbroadcastd zmm18, dword ptr [{constants} + 64]",
                "vpsrld zmm17, zmm16, 23",
                $($within_word,)?
                "vpsrld zmm16, zmm16, 28",
                "vprolvd zmm17, zmm18, zmm17",
                "vpermd zmm16, zmm16, zmmword ptr [{line}]",
                "vptestnmd k1, zmm16, zmm17",
                "kmovw {missing:e}, k1",
                "test {missing:e}, {wanted:e}",
                "jnz {denied}",
                seeds = inout(reg) $hash => _,
                constants = in(reg) core::ptr::from_ref($constants),
                line = in(reg) $line.as_ptr(),
                wanted = in(reg) $probes.mask(),
                missing = out(reg) _,
                denied = label { return false },
                out("zmm16") _,
                out("zmm17") _,
                out("zmm18") _,
                out("k1") _,
                options(readonly, nostack),
            );
        }
    };
}

#[expect(clippy::unused_self, reason = "`self` is the proof that the call is sound")]
impl Avx512 {
    /// As [`portable::line_contains`](super::portable::line_contains), for sixteen probes at most: if
    /// there are more, it says nothing of those.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(super) fn line_contains<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        match FIELD_BITS {
            1 => line_contains!(line, hash, probes, &OF_BITS),
            _ => line_contains!(
                line,
                hash,
                probes,
                &OF_COUNTERS,
                "vpandd zmm17, zmm17, dword ptr [{constants} + 68]{{1to16}}"
            ),
        }
        true
    }

    /// As [`portable::block_contains`](super::portable::block_contains).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(super) fn block_contains(self, block: &Block, hash: u64) -> bool {
        // SAFETY: the processor has AVX-512 F and VL, or there would be no `self`. 32 bytes of the block
        // and the constants, which are as long as the offset says, are read, and nothing is written but
        // the registers that are named here.
        unsafe {
            asm!(
                "vpbroadcastd ymm16, {hash:e}",
                "vpmulld ymm16, ymm16, ymmword ptr [{constants}]",
                "vpbroadcastd ymm17, dword ptr [{constants} + 32]",
                "vpsrld ymm16, ymm16, 27",
                "vprolvd ymm16, ymm17, ymm16",
                // One bit in each word: where it is missing, nothing is left.
                "vptestnmd k1, ymm16, ymmword ptr [{block}]",
                "kortestw k1, k1",
                "jnz {denied}",
                hash = in(reg) hash,
                constants = in(reg) core::ptr::from_ref(&OF_BLOCKS),
                block = in(reg) block.as_ptr(),
                denied = label { return false },
                out("zmm16") _,
                out("zmm17") _,
                out("k1") _,
                options(readonly, nostack),
            );
        }
        true
    }

    /// Says whether the columns that are there give their bits of the fingerprint.
    ///
    /// Eight columns are in a register, both blocks as one number in each lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(super) fn match_columns(self) -> impl MatchColumns {
        move |vectors: Vectors<'_>, mask: &ColumnMask, key: Key| {
            // SAFETY: the processor has AVX-512 F, DQ, VBMI2 and VPOPCNTDQ, or there would be no `self`. The
            // 64 bytes of either vector are read, and two fields of `There`. Nothing is written but the
            // registers that are named here.
            unsafe {
                asm!(
                    "vmovdqu64 zmm16, zmmword ptr [{low}]",
                    "vpbroadcastq zmm17, {shift}",
                    "vpbroadcastq zmm18, {coefficients}",
                    "vmovdqu64 zmm19, zmmword ptr [{high}]",
                    // As one number, so that bit 0 is the slot at which the key starts.
                    "vpshrdvq zmm16, zmm19, zmm17",
                    "vpandq zmm16, zmm16, zmm18",
                    "vpopcntq zmm16, zmm16",
                    "vptestmq k1, zmm16, qword ptr [{mask} + {one}]{{1to8}}",
                    "kmovb {odd:e}, k1",
                    "xor {odd:e}, {fingerprint:e}",
                    "test byte ptr [{mask} + {bits}], {odd:l}",
                    "jnz {denied}",
                    low = in(reg) vectors.low.as_ptr(),
                    high = in(reg) vectors.high.as_ptr(),
                    shift = in(reg) u64::from(key.shift),
                    coefficients = in(reg) key.coefficients,
                    fingerprint = in(reg) key.fingerprint,
                    mask = in(reg) core::ptr::from_ref(mask),
                    one = const offset_of!(ColumnMask, one),
                    bits = const offset_of!(ColumnMask, bits),
                    odd = out(reg) _,
                    denied = label { return false },
                    out("zmm16") _,
                    out("zmm17") _,
                    out("zmm18") _,
                    out("zmm19") _,
                    out("k1") _,
                    options(readonly, nostack),
                );
            }
            true
        }
    }
}
