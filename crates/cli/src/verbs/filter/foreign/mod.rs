//! `hfile filter foreign`: `make` (also with `--extend`), `ask` and `info` of filters in other libraries' formats.

mod ask;
mod files;
mod formats;
mod info;
mod make;

use crate::verbs::group::verbs;

verbs! {
    /// Make, query and describe filters in the formats of other libraries.
    ///
    /// A file does not record its format, so --format is required.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile filter foreign make --format go-cuckoo --input keys.txt --output keys.cuckoo
  hfile filter foreign ask --format go-cuckoo keys.cuckoo row1 row2
  hfile filter foreign info --format hadoop-bloom keys.bloom --json
  hfile filter foreign make --format guava --extend old.bloom --input more.txt --output new.bloom")]
    pub(crate) enum ForeignVerbs {
        Make(make::Make).run(),
        Ask(ask::Ask).run(),
        Info(info::Info).run(),
    }
}
