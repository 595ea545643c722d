//! `hfile filter`: size and error rate of filters, computed and measured; filters in files.

mod ask;
mod error_rate;
mod foreign;
mod interval;
mod keys;
mod make;
mod measure;
mod measure_file;
mod rebuild;
mod size;

use crate::arguments::reading_options::WithReadingOptions;
use crate::verbs::group::verbs;

verbs! {
    /// Compute and measure the size and error rate of filters, make filters, and replace the filter of an HFile.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile filter size --keys 1000000 --error-rate 0.01
  hfile filter measure --kind cuckoo --keys 1000000
  hfile filter measure --kind blocked-bloom --input /usr/share/dict/words --json
  hfile filter measure 4f1c.hfile
  hfile filter rebuild 4f1c.hfile --output new.hfile --kind blocked-bloom --error-rate 0.001
  hfile filter rebuild region/cf --output new-cf --bloom-type ROW --bloom-error-rate 0.001
  hfile filter make --kind ribbon --input keys.txt --output keys.filter
  hfile filter foreign make --format guava --input keys.txt --output keys.bloom

Which filter suits files that you have: hfile bench --hfiles region/cf --filters hbase-bloom,ribbon; with charts:
--report FILE.html.")]
    pub(crate) enum FilterVerbs {
        Size(size::Size).run(),
        Make(make::Make).run(),
        Ask(ask::Ask).run(),
        Measure(WithReadingOptions<measure::Measure>).applied().run(),
        Rebuild(WithReadingOptions<rebuild::Rebuild>).applied().run(),
        #[command(subcommand)]
        Foreign(foreign::ForeignVerbs).run(),
    }
}
