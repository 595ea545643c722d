//! The verbs of `hfile wal`.

use super::{cat, info, verify};
use crate::verbs::group::verbs;

verbs! {
    /// Read HBase's write-ahead logs, without HBase.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile wal info WALs
  hfile wal cat --table users --format entries oldWALs
  hfile wal verify WALs/host,16020,1700000000000")]
    pub(crate) enum WalVerbs {
        Info(info::Info).run(),
        Cat(cat::Cat).run(),
        Verify(verify::Verify).run(),
    }
}
