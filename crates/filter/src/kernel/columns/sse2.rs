//! The ribbon filter's inner loop in the 128-bit vectors that every x86-64 processor has.
//!
//! ```text
//! and, or     the slots that count, of both blocks: a word for each of four columns
//! fold        into halves, one for each column
//! add         what a product of 16 bits has at a place is the sum of eight bits of a half
//! compare     the lowest bits with the fingerprint's; then the other four columns, the same way
//! ```
//!
//! As assembly, of which a compiler makes a quarter more instructions: where a lookup waits for memory, a
//! processor goes on to the next keys until it has some three hundred under way. For the same reason the
//! second four columns have a jump before them, which fifteen absent keys of sixteen take.
#![allow(unsafe_code, reason = "assembly")]

use core::arch::asm;
use core::mem::offset_of;

use super::compare::{ColumnMask, Key, Vectors};

/// What the bits of four columns are compared with and multiplied by.
#[repr(C, align(16))]
struct Constants {
    /// The bit of every four to which these have been folded.
    folded: [u32; 4],
    /// Adds up four such bits in the uppermost.
    sum: [u16; 8],
}

static CONSTANTS: Constants = Constants { folded: [0x8888_8888; 4], sum: [0x1111; 8] };

/// The parities of four columns that begin after so many bytes, and in the next two so many.
macro_rules! parities {
    ($first:literal, $second:literal) => {
        concat!(
            "movdqu {a}, xmmword ptr [{low} + ",
            $first,
            "]\n",
            "movdqu {b}, xmmword ptr [{high} + ",
            $first,
            "]\n",
            "pand {a}, {low_slots}\n",
            "pand {b}, {high_slots}\n",
            "por {a}, {b}\n",
            "movdqu {c}, xmmword ptr [{low} + ",
            $second,
            "]\n",
            "movdqu {b}, xmmword ptr [{high} + ",
            $second,
            "]\n",
            "pand {c}, {low_slots}\n",
            "pand {b}, {high_slots}\n",
            "por {c}, {b}\n",
            // The halves of four words.
            "movaps {b}, {a}\n",
            "shufps {b}, {c}, 0x88\n",
            "shufps {a}, {c}, 0xdd\n",
            "pxor {a}, {b}\n",
            // Four bits into the uppermost of them.
            "movdqa {b}, {a}\n",
            "paddd {b}, {b}\n",
            "pxor {a}, {b}\n",
            "movdqa {b}, {a}\n",
            "pslld {b}, 2\n",
            "pxor {a}, {b}\n",
            "pand {a}, xmmword ptr [rip + {constants} + {folded}]\n",
            // Bit 15 has the sum of eight, whatever comes above it.
            "pmaddwd {a}, xmmword ptr [rip + {constants} + {sum}]\n",
            "pslld {a}, 16\n",
            "movmskps {odd:e}, {a}\n",
        )
    };
}

/// Returns whether the columns that are there give their bits of the fingerprint.
#[inline(always)]
#[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
pub(super) fn columns_match(vectors: Vectors<'_>, mask: &ColumnMask, key: Key) -> bool {
    // SAFETY: every x86-64 processor has SSE2. The 64 bytes of either vector are read, two fields of
    // `There`, and the constants, which are aligned as their operands have to be. Nothing is written but
    // the registers that are named here.
    unsafe {
        asm!(
            // What is shifted out of the low slots are the high ones; by `64 - shift` in two shifts.
            "mov {odd}, {coefficients}",
            "shl {coefficients}, cl",
            "shr {odd}, 1",
            "not ecx",
            "shr {odd}, cl",
            "movq {low_slots}, {coefficients}",
            "punpcklqdq {low_slots}, {low_slots}",
            "movq {high_slots}, {odd}",
            "punpcklqdq {high_slots}, {high_slots}",
            parities!(0, 16),
            "xor {odd:e}, {fingerprint:e}",
            "test byte ptr [{mask} + {first}], {odd:l}",
            "jnz {denied}",
            parities!(32, 48),
            "shl {odd:e}, 4",
            "xor {odd:e}, {fingerprint:e}",
            "test byte ptr [{mask} + {second}], {odd:l}",
            "jnz {denied}",
            low = in(reg) vectors.low.as_ptr(),
            high = in(reg) vectors.high.as_ptr(),
            coefficients = inout(reg) key.coefficients => _,
            inout("ecx") key.shift => _,
            fingerprint = in(reg) key.fingerprint,
            mask = in(reg) core::ptr::from_ref(mask),
            constants = sym CONSTANTS,
            folded = const offset_of!(Constants, folded),
            sum = const offset_of!(Constants, sum),
            first = const offset_of!(ColumnMask, first_bits),
            second = const offset_of!(ColumnMask, second_bits),
            odd = out(reg) _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            low_slots = out(xmm_reg) _,
            high_slots = out(xmm_reg) _,
            denied = label { return false },
            options(readonly, nostack),
        );
    }
    true
}
