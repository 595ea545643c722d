//! The body of a delta-encoded block.

use crate::buffers::Body;

/// Bytes in front of the payload of a delta encoding: its id, and the unencoded size.
pub(in crate::encoding) const DELTA_HEADER_LEN: usize = 6;

/// The encodings that store differences between cells.
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
    /// The bytes that the block says its cells take as plain cells.
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

    /// The bytes that the block says its cells take as plain cells.
    pub(in crate::encoding) const fn plain_len(&self) -> usize {
        self.size
    }

    /// The whole body.
    #[inline]
    pub(in crate::encoding) const fn body(&self) -> &Body {
        &self.body
    }

    /// The buffer beneath, for another block.
    pub(in crate::encoding) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }
}
