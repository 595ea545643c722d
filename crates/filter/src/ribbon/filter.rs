//! Building a ribbon filter, and lookups in memory.

use alloc::vec::Vec;

use super::base::Base;
use super::equation::{LAYERS, Shuffle};
use super::layer::Layer;
use super::layout::Layout;
use super::shape::{self, FilterPlan};
use super::stored::{Parameters, RibbonView};
use super::{segments, solution};
use crate::error::BuildError;
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::kernel::InstructionSet;
use crate::membership::FilterStats;
use crate::memory::AlignedBytes;
use crate::methods::filter_methods;
use crate::sizing::Sizing;
use crate::stored_view::{StoredView, membership_of_view};

/// A bumped ribbon filter: an immutable filter that is built from all keys in one step.
///
/// The minimum size of any filter is log2(1/ε) bits per key, where ε is the error rate. A ribbon
/// filter exceeds the minimum by 0.5 % if that is a whole number of bits, and by up to 1.5 %
/// otherwise. No other filter of this crate is smaller. Most lookups read two adjacent blocks of
/// slots; up to 8 bits per key, a block is at most as long as a cache line. Building needs less than
/// 160 bits (20 bytes) of memory per key, besides the keys and the filter.
///
/// ```
/// use filter::{Ribbon, Seed, SeededHashes, Sizing, StoredFilter};
///
/// let names: Vec<String> = (0..100_000).map(|number| format!("user {number}")).collect();
/// let keys = SeededHashes::new(Seed::random(), &names);
/// let filter = Ribbon::build(Sizing::error_rate(0.01)?, &keys)?;
/// assert!(names.iter().all(|name| filter.may_contain(name)));
/// assert!(filter.stats().bits_per_key() < 6.77); // log2(100) = 6.64
///
/// let stored = StoredFilter::parse(filter.to_stored())?;
/// assert!(stored.may_contain("user 7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Ribbon {
    keys: u64,
    seed: Seed,
    body: AlignedBytes,
    parameters: Parameters,
    pub(super) view: RibbonView,
}

impl Ribbon {
    /// Builds a filter from hashes with a seed. Each copy of a key counts as a key.
    pub(crate) fn from_hashes(
        sizing: Sizing,
        seed: Seed,
        keys: &[KeyHash],
    ) -> Result<Self, BuildError> {
        let count = keys.len() as u64;
        // `plan` knows only the expected number of slots, so its `Full` may be wrong. The layout
        // below is computed from the actual number and decides.
        match Self::plan(sizing, count) {
            Ok(_) | Err(BuildError::Full) => {}
            Err(error) => return Err(error),
        }
        let (layers, base) = fill(keys)?;
        let mut plan = FilterPlan { base_share: 1.0, ..FilterPlan::default() };
        for layer in &layers {
            plan.add_layer(layer.starts, &layer.thresholds);
        }
        plan.base_slots = base.slots();
        plan.base_seed = base.seed();
        let layout = if keys.is_empty() { Layout::default() } else { plan.layout(sizing, count)? };
        Self::solve(count, seed, &layers, &base, layout)
    }

    /// Solves the equations, for as many columns as `layout` has, and writes the body.
    fn solve(
        keys: u64,
        seed: Seed,
        layers: &[Layer],
        base: &Base,
        layout: Layout,
    ) -> Result<Self, BuildError> {
        let mut parameters = Parameters {
            layout,
            base_seed: base.seed(),
            base_slots: base.slots(),
            ..Parameters::default()
        };
        let thresholds: u64 = layers.iter().map(|layer| layer.thresholds.len() as u64).sum();
        let base_bytes = base.to_bytes(layout.base_columns());
        let rest = base_bytes.len() as u64 + thresholds;
        let mut body =
            AlignedBytes::zeroed(layout.len().checked_add(rest).ok_or(BuildError::Memory)?)?;
        let mut first_block = 0;
        for (layer, blocks) in layers.iter().zip(&mut parameters.blocks) {
            *blocks = layer.blocks();
            solution::write(layer, layout, first_block, &mut body);
            first_block += *blocks;
        }
        let mut rest = &mut body[layout.len() as usize..];
        for part in layers.iter().map(|layer| &layer.thresholds).chain([&base_bytes]) {
            let (target, after) = rest.split_at_mut(part.len());
            target.copy_from_slice(part);
            rest = after;
        }
        let view = RibbonView::new(&parameters, &body).expect("our own bytes");
        Ok(Self { keys, seed, body, parameters, view })
    }

    /// Estimates the size and the error rate of a filter of `keys` distinct keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        if keys == 0 {
            return Ok(FilterStats { keys, bytes: 0, error_rate: 0.0 });
        }
        let plan = FilterPlan::expected(keys);
        Ok(plan.stats(plan.layout(sizing, keys)?, keys))
    }

    /// Disables AVX-512 in lookups, so that benchmarks can measure the code without it.
    ///
    /// The answers stay the same.
    #[doc(hidden)]
    #[must_use]
    pub fn without_vectors(self) -> Self {
        Self { view: self.view.with(InstructionSet::baseline()), ..self }
    }

    /// Returns the stored form, which [`StoredFilter`](crate::StoredFilter) reads.
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: RibbonView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: self.parameters.to_header(),
        };
        header.write(&[&self.body])
    }
}

/// Puts each key into a layer or into the base.
///
/// The first layer gets all keys, and each later layer the keys that the one before bumped.
fn fill(keys: &[KeyHash]) -> Result<(Vec<Layer>, Base), BuildError> {
    let (mut layers, mut bumped) = (Vec::new(), None::<Vec<KeyHash>>);
    for index in 0..LAYERS {
        let keys = bumped.as_deref().unwrap_or(keys);
        let blocks = shape::blocks(index, keys.len() as u64);
        if blocks == 0 {
            break;
        }
        let (layer, rest) = segments::fill(Shuffle::layer(index), blocks, keys)?;
        layers.push(layer);
        bumped = Some(rest);
    }
    let base = Base::new(bumped.unwrap_or_else(|| keys.to_vec()))?;
    Ok((layers, base))
}

filter_methods!(Ribbon, builds);
membership_of_view!(Ribbon);
