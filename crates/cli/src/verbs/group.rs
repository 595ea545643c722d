//! Groups of verbs: an enum for clap, and the method that runs the chosen verb.

/// Declares an enum of verbs, each with the call that runs it.
macro_rules! verbs {
    (
        $(#[$of_group:meta])*
        $visibility:vis enum $group:ident {
            $(
                $(#[$of_verb:meta])*
                $verb:ident($arguments:ty)$(.$method:ident($($argument:expr)?))+,
            )+
        }
    ) => {
        #[derive(clap::Subcommand)]
        $(#[$of_group])*
        $visibility enum $group {
            $($(#[$of_verb])* $verb($arguments),)+
        }

        impl $group {
            /// Runs the chosen verb.
            $visibility fn run(self) -> anyhow::Result<crate::failure::Answer> {
                match self {
                    $(Self::$verb(verb) => verb$(.$method($($argument)?))+,)+
                }
            }
        }
    };
}

pub(crate) use verbs;
