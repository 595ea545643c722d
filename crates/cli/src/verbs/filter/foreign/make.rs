//! `hfile filter foreign make`: builds a filter in another library's format, or adds keys to one.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::Context;
use filter::ErrorRate;
use foreign_filters::hadoop::{BloomFilter, CountingBloomFilter, DynamicBloomFilter, Hash, Shape};
use foreign_filters::{GoCuckoo, GuavaBloom, GuavaStrategy, SimpleBloom};

use super::files::read;
use super::formats::{Foreign, ForeignFormat};
use super::info::InfoReport;
use crate::failure::{Answer, UsageError};
use crate::text::destination::Output;
use crate::text::output::ReportFormat;
use crate::verbs::filter::error_rate::error_rate;
use crate::verbs::filter::keys::for_each_key;

/// Make a filter of keys, or add keys to an existing filter.
///
/// Formats guava and hadoop-* are sized by --expected keys and --error-rate, as their libraries do; the Hadoop
/// formats also by --bits and --hash-count, as Hadoop's constructors do. go-cuckoo has only --expected: the
/// number of slots is the next power of two from 1.04 for each key, and inserts begin to fail once about 95 %
/// are taken. simple-bloom always has 2^25 bits.
#[derive(clap::Args)]
#[command(after_help = "\
To make filters of this project: hfile filter make (a file of its own), hfile build --filter KIND or hfile filter
rebuild (in an HFile).
Exit status: 0 made, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Make {
    /// Write the filter in this format
    #[arg(long, value_enum, ignore_case = true)]
    format: ForeignFormat,
    /// Write the filter to OUT; - is stdout
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Read the keys from this file, one per line; - is stdin
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// Read the lines of --input as hex
    #[arg(long)]
    hex: bool,
    /// Add the keys to this filter, whose size stays, instead of a new one
    #[arg(long, value_name = "FILE", conflicts_with_all = SIZING)]
    extend: Option<PathBuf>,
    /// Size the filter for this many keys [default: the number of keys in --input]
    #[arg(long, value_name = "KEYS")]
    expected: Option<u32>,
    /// Set the error rate for absent keys, between 0 and 1 [default: 0.01]
    #[arg(long, value_name = "RATE")]
    error_rate: Option<f64>,
    /// Set the number of bits (Hadoop's vectorSize) instead of --expected and --error-rate; needs --hash-count
    #[arg(long, value_name = "BITS", requires = "hash_count", conflicts_with_all = ["error_rate", "expected"])]
    bits: Option<u32>,
    /// Set the number of hash functions (Hadoop's nbHash); needs --bits
    #[arg(long, value_name = "COUNT", requires = "bits")]
    hash_count: Option<u32>,
    /// Set Hadoop's hash type [default: murmur]
    #[arg(long, value_enum, ignore_case = true)]
    hash: Option<HashName>,
    /// Set the keys that each Bloom filter of a dynamic filter takes (Hadoop's nr) [default: as --expected]
    #[arg(long, value_name = "KEYS")]
    row_keys: Option<NonZeroU32>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The options that size a new filter. They conflict with --extend.
const SIZING: [&str; 6] = ["expected", "error_rate", "bits", "hash_count", "hash", "row_keys"];

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum HashName {
    Jenkins,
    Murmur,
}

/// Returns the number of slots of a go-cuckoo filter for `keys` keys.
///
/// Plans for a load of 96 %. The 16 extra keys give small tables more room, because their inserts
/// begin to fail at a lower load.
fn go_slots(keys: u32) -> u64 {
    (u64::from(keys) + 16) * 100 / 96 + 1
}

impl Make {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.check()?;
        // Stays empty unless the filter is sized for the number of keys in the input.
        let mut keys = Vec::new();
        let mut filter = match &self.extend {
            Some(path) => read(path, self.format)?,
            None if self.expected.is_some() || self.format == ForeignFormat::SimpleBloom => {
                self.empty(self.expected.unwrap_or_default())?
            }
            None => {
                for_each_key(&self.input, self.hex, |key| {
                    keys.push(key.to_vec());
                    Ok(())
                })?;
                self.empty(u32::try_from(keys.len()).unwrap_or(u32::MAX))?
            }
        };
        if keys.is_empty() {
            for_each_key(&self.input, self.hex, |key| filter.insert(key))?;
        } else {
            for (key, number) in keys.iter().zip(1_u64..) {
                filter.insert(key).with_context(|| format!("key {number}"))?;
            }
        }
        let mut output = Output::create(&self.output, self.force)?;
        output
            .write_all(&filter.to_bytes())
            .with_context(|| format!("{}: cannot write", self.output.display()))?;
        let is_stdout = output.path().is_none();
        output.finish()?;
        if !is_stdout {
            self.report_format.print(&InfoReport::new(&self.output, self.format, &filter))?;
        }
        Ok(Answer::Positive)
    }

    /// Rejects options that the format does not have.
    fn check(&self) -> Result<(), UsageError> {
        use ForeignFormat::{GoCuckoo, HadoopBloom, HadoopCounting, HadoopDynamic, SimpleBloom};
        let is_hadoop = matches!(self.format, HadoopBloom | HadoopCounting | HadoopDynamic);
        let has_rate = !matches!(self.format, SimpleBloom | GoCuckoo);
        for (name, given, allowed) in [
            ("--bits", self.bits.is_some(), is_hadoop),
            ("--hash", self.hash.is_some(), is_hadoop),
            ("--row-keys", self.row_keys.is_some(), self.format == HadoopDynamic),
            ("--error-rate", self.error_rate.is_some(), has_rate),
            ("--expected", self.expected.is_some(), self.format != SimpleBloom),
        ] {
            if given && !allowed {
                let format = self.format.name();
                let fixed = match (name, self.format) {
                    ("--error-rate", GoCuckoo) => {
                        ": its fingerprints of 8 bits give about 3 % if it is full"
                    }
                    (_, SimpleBloom) => ": it has 2^25 bits and 7 seeds, whatever its keys",
                    _ => "",
                };
                return Err(UsageError(format!("a {format} filter has no {name}{fixed}")));
            }
        }
        Ok(())
    }

    /// Creates an empty filter for `expected` keys.
    fn empty(&self, expected: u32) -> anyhow::Result<Foreign> {
        Ok(match self.format {
            ForeignFormat::Guava => {
                let rate = self.rate()?;
                Foreign::Guava(GuavaBloom::new(expected.into(), rate, GuavaStrategy::Mitz64)?)
            }
            ForeignFormat::SimpleBloom => Foreign::SimpleBloom(SimpleBloom::default()),
            ForeignFormat::HadoopBloom => {
                Foreign::HadoopBloom(BloomFilter::new(self.shape(expected)?)?)
            }
            ForeignFormat::HadoopCounting => {
                Foreign::HadoopCounting(CountingBloomFilter::new(self.shape(expected)?)?)
            }
            ForeignFormat::HadoopDynamic => {
                let count = NonZeroU32::new(expected).unwrap_or(NonZeroU32::MIN);
                let row_keys = self.row_keys.unwrap_or(count);
                let shape = self.shape(row_keys.get())?;
                Foreign::HadoopDynamic(DynamicBloomFilter::new(shape, row_keys)?)
            }
            ForeignFormat::GoCuckoo => Foreign::GoCuckoo(GoCuckoo::new(go_slots(expected))?),
        })
    }

    fn rate(&self) -> Result<ErrorRate, UsageError> {
        self.error_rate.map_or(Ok(ErrorRate::HBASE), error_rate)
    }

    /// Returns the number of bits and of hash functions of a Hadoop filter, and its hash type.
    fn shape(&self, keys: u32) -> anyhow::Result<Shape> {
        let hash = match self.hash {
            Some(HashName::Jenkins) => Hash::Jenkins,
            None | Some(HashName::Murmur) => Hash::Murmur,
        };
        Ok(match (self.bits, self.hash_count) {
            (Some(bits), Some(hash_count)) => {
                Shape::new(bits, hash_count, hash).map_err(|error| UsageError(error.to_string()))?
            }
            _ => Shape::for_keys(keys, self.rate()?, hash)
                .context("cannot size the filter; lower --expected or raise --error-rate")?,
        })
    }
}
