//! Filters of one shape, of any kind: how they are recognised, laid side by side, and asked.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::bits::{BitSlices, Positions};
use super::cuckoo::CuckooSlices;
use super::dleft::DLeftSlices;
use super::fuse::FuseSlices;
use super::ribbon::RibbonSlices;
use super::rows::Rows;
use crate::format::View;
use crate::{BuildError, KeyHash, StoredFilter};

/// What decides where a key's fields are, and what is looked for there: filters in which all of that is the
/// same can lie side by side. First the code of the kind, then its numbers.
pub(super) type Shape = (u8, [u64; 3]);

/// Returns the shape of a filter, or nothing if it cannot lie beside others.
pub(super) fn shape<B: AsRef<[u8]>>(filter: &StoredFilter<B>) -> Option<Shape> {
    let (header, body) = filter.parts();
    if body.is_empty() {
        return None;
    }
    let [small, count, _] = header.parameters;
    let numbers = match filter.view() {
        View::Classic(_) | View::Blocked(_) | View::Counting(_) | View::SplitBlock(_) => {
            [small, body.len() as u64, 0]
        }
        View::BinaryFuse(_) => header.parameters,
        View::Cuckoo(_) | View::DLeft(_) => [small, count, 0],
        // That of a few keys has no first layer, and one from outside may have no columns.
        View::Ribbon(view) if view.first_layer_blocks() > 0 && view.columns() > 0 => {
            [view.first_layer_blocks(), view.columns().into(), 0]
        }
        View::Ribbon(_) => return None,
    };
    Some((header.kind.code(), numbers))
}

/// Filters of one shape, side by side.
#[derive(Clone, Debug)]
pub(super) enum Group {
    Bits(BitSlices),
    Fuse(FuseSlices),
    Cuckoo(CuckooSlices),
    DLeft(Box<DLeftSlices>),
    Ribbon(Box<RibbonSlices>),
}

impl Group {
    /// Lays filters of one shape side by side.
    pub(super) fn new<B: AsRef<[u8]>>(members: &[&StoredFilter<B>]) -> Result<Self, BuildError> {
        let bodies: Vec<&[u8]> = members.iter().map(|member| member.parts().1).collect();
        let first = members.first().expect("a group has members");
        Ok(match *first.view() {
            View::Classic(view) => Self::Bits(BitSlices::new(Positions::Classic(view), &bodies)?),
            View::Blocked(view) => Self::Bits(BitSlices::new(Positions::Blocked(view), &bodies)?),
            View::Counting(view) => Self::Bits(BitSlices::new(Positions::Counting(view), &bodies)?),
            View::SplitBlock(_) => Self::Bits(BitSlices::new(Positions::SplitBlock, &bodies)?),
            View::BinaryFuse(view) => Self::Fuse(FuseSlices::new(view, &bodies)?),
            View::Ribbon(view) => {
                let ribbons = members.iter().filter_map(|member| match member.view() {
                    View::Ribbon(view) => Some((*view, member.parts().1)),
                    _ => None,
                });
                Self::Ribbon(Box::new(RibbonSlices::new(&view, &ribbons.collect::<Vec<_>>())?))
            }
            View::Cuckoo(view) => Self::Cuckoo(CuckooSlices::new(view, &bodies)?),
            View::DLeft(ref view) => Self::DLeft(Box::new(DLeftSlices::new(view, &bodies)?)),
        })
    }

    /// Returns the table.
    fn rows(&self) -> &Rows {
        match self {
            Self::Bits(bits) => bits.rows(),
            Self::Fuse(fuse) => fuse.rows(),
            Self::Cuckoo(cuckoo) => cuckoo.rows(),
            Self::DLeft(dleft) => dleft.rows(),
            Self::Ribbon(ribbon) => ribbon.rows(),
        }
    }

    /// Returns how many bytes of memory it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        match self {
            Self::DLeft(dleft) => dleft.memory_bytes(),
            Self::Ribbon(ribbon) => ribbon.memory_bytes(),
            _ => self.rows().memory_bytes(),
        }
    }

    /// Sends for what a key looks at first.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        match self {
            Self::Bits(bits) => bits.prefetch(hash),
            Self::Fuse(fuse) => fuse.prefetch(hash),
            Self::Cuckoo(cuckoo) => cuckoo.prefetch(hash),
            Self::DLeft(dleft) => dleft.prefetch(hash),
            Self::Ribbon(ribbon) => ribbon.prefetch(hash),
        }
    }

    /// Returns a bit for each filter of a stripe that may hold the key.
    #[inline]
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
        match self {
            Self::Bits(bits) => bits.candidates(hash, stripe),
            Self::Fuse(fuse) => fuse.candidates(hash, stripe),
            Self::Cuckoo(cuckoo) => cuckoo.candidates(hash, stripe),
            Self::DLeft(dleft) => dleft.candidates(hash, stripe),
            Self::Ribbon(ribbon) => ribbon.candidates(hash, stripe),
        }
    }

    /// Calls `found` with the number of each filter that may hold the key, in order.
    #[inline]
    pub(super) fn probe(&self, hash: KeyHash, mut found: impl FnMut(usize)) {
        let rows = self.rows();
        for stripe in 0..rows.stripes() {
            let mut left = self.candidates(hash, stripe) & rows.present(stripe);
            while left != 0 {
                found(rows.first_filter(stripe) + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}
