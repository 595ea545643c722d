//! The names that HBase takes for names of store files.

use std::fmt;
use std::str::FromStr;

use super::{
    DataFileName, HFileLink, HFileName, InvalidName, MobFileName, ReferenceName, ReferredName,
};

/// The name of a file in the directory of a family.
///
/// ```
/// use hbase_files::StoreFileName;
///
/// let name: StoreFileName =
///     "4844017402a04d9587a063dc65b1fcc9.54831f426c01e05355f378f3c645ed76".parse()?;
/// assert!(matches!(name, StoreFileName::Reference(_)));
/// assert!("notes.txt".parse::<StoreFileName>().is_err());
/// # Ok::<(), hbase_files::InvalidName>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum StoreFileName {
    /// An HFile.
    HFile(HFileName),
    /// A MOB file.
    Mob(MobFileName),
    /// A link to a file of another table.
    Link(HFileLink),
    /// A reference to a half of a file of another region.
    Reference(ReferenceName),
}

impl StoreFileName {
    /// Returns the sequence id in the name of a bulk-loaded HFile that has the cells of the file.
    pub(crate) const fn bulk_load_sequence(&self) -> Option<u64> {
        let link = match self {
            Self::HFile(hfile)
            | Self::Reference(ReferenceName { referred: ReferredName::HFile(hfile), .. }) => {
                return hfile.sequence_id();
            }
            Self::Link(link)
            | Self::Reference(ReferenceName { referred: ReferredName::Link(link), .. }) => link,
            Self::Mob(_) => return None,
        };
        match &link.file {
            DataFileName::HFile(hfile) => hfile.sequence_id(),
            DataFileName::Mob(_) => None,
        }
    }
}

impl From<DataFileName> for StoreFileName {
    fn from(name: DataFileName) -> Self {
        match name {
            DataFileName::HFile(name) => Self::HFile(name),
            DataFileName::Mob(name) => Self::Mob(name),
        }
    }
}

impl FromStr for StoreFileName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.parse()
            .map(Self::Reference)
            .or_else(|_| text.parse().map(Self::Link))
            .or_else(|_| text.parse::<DataFileName>().map(Self::from))
    }
}

impl fmt::Display for StoreFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HFile(name) => name.fmt(f),
            Self::Mob(name) => name.fmt(f),
            Self::Link(name) => name.fmt(f),
            Self::Reference(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "4844017402a04d9587a063dc65b1fcc9";
    const OTHER: &str = "54831f426c01e05355f378f3c645ed76";

    fn parse(text: &str) -> Option<StoreFileName> {
        let name: Option<StoreFileName> = text.parse().ok();
        assert!(name.as_ref().is_none_or(|name| name.to_string() == text), "{text}");
        name
    }

    #[test]
    fn names_that_hbase_wrote_have_their_kinds() {
        let hfile = format!("{HEX}_SeqId_37_");
        for text in [HEX, &hfile, &format!("{HEX}_del")] {
            assert!(matches!(parse(text), Some(StoreFileName::HFile(_))), "{text}");
        }
        let mob = format!("{HEX}20231114{OTHER}");
        for text in [mob.clone(), format!("{mob}_{OTHER}")] {
            assert!(matches!(parse(&text), Some(StoreFileName::Mob(_))), "{text}");
        }
        let links = [
            format!("t1={HEX}-{hfile}"),
            format!("ns1=t-1.a_b={HEX}-{OTHER}"),
            format!("t.{HEX}=1588230740-{mob}_{OTHER}"),
        ];
        for text in &links {
            assert!(matches!(parse(text), Some(StoreFileName::Link(_))), "{text}");
        }
        for text in [format!("{hfile}.{OTHER}"), format!("{}.{OTHER}", links[1])] {
            assert!(matches!(parse(&text), Some(StoreFileName::Reference(_))), "{text}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for text in [
            "",
            ".",
            "..",
            "4f1c.hfile",
            "4f1c.9a",
            "manifest.json",
            ".regioninfo",
            "_del",
            "a_SeqId_",
            "a_SeqId__",
            "a_SeqId_x_",
            "a_SeqId_1",
            "a_SeqId_99999999999999999999_",
            "a_SeqId_+1_",
            "A0",
            "=",
            "t=",
            "t=1-",
            "t=1",
            "=1-a",
            "a=b=c=1-a",
            "t=1-a.",
            ".1",
            "-t=1-a",
            "t/x=1-a",
            "n/s=t=1-a",
            "../t=1-a",
            "t=../1-a",
            "1-a",
            "t=1-a/b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    fn name() -> impl Strategy<Value = String> {
        let hfile = "[0-9a-f]{1,40}(_SeqId_[0-9]{1,19}_|_del)?";
        let region = "[0-9a-f]{32}|[0-9]{1,10}";
        let mob = "[0-9a-f]{32}[0-9]{8}[0-9a-f]{32}(_[0-9a-f]{32})?";
        let data = prop_oneof![hfile.prop_map(|name| name), mob.prop_map(|name| name)];
        let link = ("([a-z0-9_]{1,9}=)?[a-zA-Z0-9_éß][a-zA-Z0-9_.é-]{0,20}", region, data)
            .prop_map(|(table, region, file)| format!("{table}={region}-{file}"));
        let referred = prop_oneof![hfile.prop_map(|name| name), link.clone()];
        let reference =
            (referred, region).prop_map(|(referred, region)| format!("{referred}.{region}"));
        prop_oneof![hfile.prop_map(|name| name), mob.prop_map(|name| name), link, reference]
    }

    proptest! {
        #[test]
        fn a_name_is_displayed_as_it_was_parsed(text in name()) {
            let parsed: StoreFileName = text.parse().expect("a name of HBase");
            prop_assert_eq!(parsed.to_string(), &*text);
            let again: StoreFileName = parsed.to_string().parse().expect("displayed");
            prop_assert_eq!(again, parsed);
        }

        #[test]
        fn no_text_is_displayed_as_another(text in "[0-9a-f_SeqIdl.=:t/-]{0,80}|\\PC{0,40}") {
            if let Ok(parsed) = text.parse::<StoreFileName>() {
                prop_assert_eq!(parsed.to_string(), &*text);
                prop_assert!(!text.contains('/'));
            }
        }
    }
}
