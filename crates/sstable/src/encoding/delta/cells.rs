//! The body of a delta-encoded block.

use crate::buffers::Body;

/// Bytes before the payload of a delta-encoded block: encoding id and unencoded size.
pub(in crate::encoding) const DELTA_HEADER_LEN: usize = 6;

/// The delta encodings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::encoding) enum DeltaEncoding {
    Prefix,
    Diff,
    FastDiff,
}

/// The body of a `PREFIX`, `DIFF` or `FAST_DIFF` block.
#[derive(Debug)]
pub(crate) struct DeltaCells {
    encoding: DeltaEncoding,
    body: Body,
    /// Bytes of the cells in plain form, as stated by the block.
    size: usize,
}

impl DeltaCells {
    /// Takes a body whose header states `size`.
    pub(in crate::encoding) const fn new(encoding: DeltaEncoding, body: Body, size: usize) -> Self {
        Self { encoding, body, size }
    }

    pub(in crate::encoding) const fn encoding(&self) -> DeltaEncoding {
        self.encoding
    }

    /// Bytes of the cells in plain form, as stated by the block.
    pub(in crate::encoding) const fn plain_len(&self) -> usize {
        self.size
    }

    pub(in crate::encoding) const fn body(&self) -> &Body {
        &self.body
    }

    /// Returns the underlying buffer, for reuse.
    pub(in crate::encoding) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }
}
