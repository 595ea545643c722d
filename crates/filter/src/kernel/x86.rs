//! What an x86-64 processor can do, as values whose existence proves it.
#![allow(unsafe_code, reason = "prefetches take pointers")]

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// Proof that the processor has AVX2: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns the proof if there is one.
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// Proof that the processor has BMI2, and AVX-512 with the extensions F, BW, DQ, VL, VBMI, VBMI2 and
/// VPOPCNTDQ, as Intel's have since Ice Lake and AMD's since Zen 4: only [`Avx512::detect`] makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the proof if there is one.
    pub(super) fn detect() -> Option<Self> {
        (std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512vbmi")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
            && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
            && std::arch::is_x86_feature_detected!("bmi2"))
        .then_some(Self(()))
    }
}

/// Asks for the cache line of the first byte and that of the last, which may be another.
#[inline]
pub(super) fn prefetch<const N: usize>(bytes: &[u8; N]) {
    if let Some(first) = bytes.first() {
        prefetch_line(first);
    }
    if let [_, .., last] = bytes.as_slice() {
        prefetch_line(last);
    }
}

#[inline]
pub(super) fn prefetch_address(address: usize) {
    // SAFETY: a prefetch reads nothing that the program could see, wherever it points, and SSE, which
    // has it, belongs to every x86-64 processor.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(address)) }
}

#[inline]
pub(super) fn prefetch_line<T>(value: &T) {
    prefetch_address(core::ptr::from_ref(value).addr());
}
