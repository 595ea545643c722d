//! `hfile store`: reads and writes a store directory. One module per verb.
//!
//! ```text
//! directory, column, versions, family_settings   arguments of several verbs
//! change_report, file_report                                   reports of several verbs
//! put_file                                                     put of the cells of a file
//! ```

mod alter;
mod append;
mod change_report;
mod checkpoint;
mod column;
mod compact;
mod create;
mod delete;
mod describe;
mod directory;
mod drop_family;
mod explain;
mod export;
mod family_settings;
mod file_report;
mod flush;
mod get;
mod import;
mod increment;
mod put;
mod put_file;
mod salvage;
mod scan;
mod stats;
mod verify;
mod versions;

use self::directory::WithStore;
use crate::verbs::group::verbs;

verbs! {
    /// Read, write and maintain a store: a directory of HFiles with a write-ahead log and memstores.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile store create DIR f --versions 3 --filter blocked-bloom
  hfile store put DIR row1 f:name=Ada f:born=1815
  hfile store put DIR f --from cells cells.ndjson
  hfile store get DIR row1
  hfile store explain DIR row1

One process at a time can write to a store. describe, get, scan, stats, explain, verify and export only read:
they need no write permission, and can run while another process writes. checkpoint flushes first, so it
writes.")]
    pub(crate) enum StoreVerbs {
        Create(WithStore<create::Create>).run(),
        Describe(WithStore<describe::Describe>).run(),
        Alter(WithStore<alter::Alter>).run(),
        DropFamily(WithStore<drop_family::DropFamily>).run(),
        Put(WithStore<put::Put>).run(),
        Get(get::Get).run(),
        Increment(WithStore<increment::Increment>).run(),
        Append(WithStore<append::Append>).run(),
        Delete(WithStore<delete::Delete>).run(),
        Scan(scan::Scan).run(),
        Flush(WithStore<flush::Flush>).run(),
        Compact(WithStore<compact::Compact>).run(),
        Stats(WithStore<stats::Stats>).run(),
        Explain(WithStore<explain::Explain>).run(),
        Import(WithStore<import::Import>).run(),
        Export(WithStore<export::Export>).run(),
        Checkpoint(WithStore<checkpoint::Checkpoint>).run(),
        Verify(WithStore<verify::Verify>).run(),
        Salvage(WithStore<salvage::Salvage>).run(),
    }
}
