//! Names of files and directories that are not store files, and why a listing skips them.
//!
//! | name                                   | what                                                      |
//! |----------------------------------------|-----------------------------------------------------------|
//! | `.tmp`                                 | unfinished files of flushes, compactions and splits       |
//! | `.regioninfo`                          | the region's description                                  |
//! | `.tabledesc`, `.tableinfo.N.LEN`       | the table's description                                   |
//! | `.filelist`                            | the files of a store file tracker                         |
//! | `.links-FILE`                          | empty back references to the links of a file              |
//! | `recovered.edits`                      | write-ahead logs to replay, and `N.seqid` markers         |
//! | `.NAME.crc`                            | checksums that Hadoop keeps beside local files            |
//! | other names that begin with `.` or `_` | hidden from HBase                                         |

use std::fmt;

/// Why a listing skips a file or a directory.
///
/// `Display` writes the words of a summary, as in "3 entries skipped: 2 in .tmp, 1 empty".
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum SkipReason {
    /// A file that a flush, a compaction or a split has not finished.
    Unfinished,
    /// The description of a region.
    RegionInfo,
    /// The description of a table.
    TableDescriptor,
    /// A file of a store file tracker.
    Tracker,
    /// A back reference from a file to a link.
    BackReference,
    /// A write-ahead log that a region server replays when it opens the region, or its marker.
    RecoveredEdits,
    /// A write-ahead log.
    WriteAheadLog,
    /// A protobuf message, such as `hbase.id`.
    Message,
    /// Checksums of Hadoop's local file system.
    Checksum,
    /// A file of a store of this project: its manifest, lock or log.
    StoreFiles,
    /// A name that begins with `.` or `_`.
    Hidden,
    /// A file without bytes that is not a link.
    Empty,
    /// A file that the store file tracker of its family does not list.
    NotListed,
    /// A part of a root directory that has no live store files, such as `archive`.
    OutsideData,
    /// A symbolic link to a directory, which could lead back to a directory that contains it.
    DirectoryLink,
    /// A pipe, a device, or a symbolic link that leads nowhere.
    NotAFile,
    /// A file with neither the name nor the contents of an HFile.
    NotAnHFile,
}

impl SkipReason {
    /// Returns what the file is, as in "is a description of a region, not an HFile".
    pub const fn description(self) -> &'static str {
        match self {
            Self::Unfinished => {
                "is in .tmp, where flushes and compactions write, and is no complete HFile"
            }
            Self::RegionInfo => "is a description of a region (.regioninfo), not an HFile",
            Self::TableDescriptor => "is a description of a table (.tabledesc), not an HFile",
            Self::Tracker => "is a file of a store file tracker (.filelist), not an HFile",
            Self::BackReference => {
                "is a back reference from a file to a link (.links-*), not an HFile"
            }
            Self::RecoveredEdits => {
                "is a file of recovered edits (a write-ahead log or its marker), not an HFile"
            }
            Self::WriteAheadLog => "is a write-ahead log, not an HFile",
            Self::Message => "is a protobuf message of HBase (it begins with PBUF), not an HFile",
            Self::Checksum => "is a checksum file of Hadoop's local file system, not an HFile",
            Self::StoreFiles => "belongs to a store directory of hfile and is not an HFile",
            Self::Hidden => "has a hidden name and is not an HFile",
            Self::Empty => "is empty, and its name is not that of a link",
            Self::NotListed => "is not listed by the store file tracker of its family",
            Self::OutsideData => "has no live store files",
            Self::DirectoryLink => "is a symbolic link to a directory",
            Self::NotAFile => "is not a regular file",
            Self::NotAnHFile => "has neither the name nor the contents of an HFile",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "in .tmp",
            Self::RegionInfo => ".regioninfo",
            Self::TableDescriptor => "in .tabledesc",
            Self::Tracker => "in .filelist",
            Self::BackReference => "in .links-*",
            Self::RecoveredEdits => "in recovered.edits",
            Self::WriteAheadLog => "write-ahead log",
            Self::Message => "protobuf message",
            Self::Checksum => ".crc",
            Self::StoreFiles => "of a store",
            Self::Hidden => "hidden",
            Self::Empty => "empty",
            Self::NotListed => "not in the tracker's list",
            Self::OutsideData => "outside data",
            Self::DirectoryLink => "linked directory",
            Self::NotAFile => "no regular file",
            Self::NotAnHFile => "not an HFile",
        })
    }
}

/// Returns why a listing skips a directory of this name; `None` if it does not.
pub(crate) fn directory_reason(name: &str) -> Option<SkipReason> {
    match name {
        ".tmp" => Some(SkipReason::Unfinished),
        ".tabledesc" => Some(SkipReason::TableDescriptor),
        ".filelist" => Some(SkipReason::Tracker),
        "recovered.edits" => Some(SkipReason::RecoveredEdits),
        _ if name.starts_with(".links-") => Some(SkipReason::BackReference),
        _ if is_hidden(name) => Some(SkipReason::Hidden),
        _ => None,
    }
}

/// Returns why a file of this name is not a store file; `None` if the name does not tell.
pub(crate) fn file_reason(name: &str) -> Option<SkipReason> {
    match name {
        ".regioninfo" => Some(SkipReason::RegionInfo),
        _ if name.starts_with(".tableinfo") => Some(SkipReason::TableDescriptor),
        _ if name.starts_with('.') && has_extension(name, "crc") => Some(SkipReason::Checksum),
        _ if has_extension(name, "seqid") => Some(SkipReason::RecoveredEdits),
        _ if is_hidden(name) => Some(SkipReason::Hidden),
        _ => None,
    }
}

fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_files_have_their_reasons() {
        for (name, reason) in [
            (".regioninfo", Some(SkipReason::RegionInfo)),
            (".tableinfo.0000000001.659", Some(SkipReason::TableDescriptor)),
            (".4f1c.crc", Some(SkipReason::Checksum)),
            ("42.seqid", Some(SkipReason::RecoveredEdits)),
            ("_SUCCESS", Some(SkipReason::Hidden)),
            (".hidden", Some(SkipReason::Hidden)),
            ("4f1c.hfile", None),
        ] {
            assert_eq!(file_reason(name), reason, "{name}");
        }
        for (name, reason) in [
            (".tmp", Some(SkipReason::Unfinished)),
            (".filelist", Some(SkipReason::Tracker)),
            (".links-4f1c", Some(SkipReason::BackReference)),
            ("recovered.edits", Some(SkipReason::RecoveredEdits)),
            ("_tmp", Some(SkipReason::Hidden)),
            ("f1", None),
        ] {
            assert_eq!(directory_reason(name), reason, "{name}");
        }
    }
}
